import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ChangeKind } from '../../../wire.ts'
import { type Followed, follow } from './follow.ts'
import { isDeep } from './paged-list.ts'

declare module '@tanstack/react-query' {
  interface Register {
    /** The kinds of things that a query shows: it is fetched again when one of them changes. */
    queryMeta: { kinds?: readonly ChangeKind[] }
  }
}

/** Changes come once a second at most. A page that takes longer to fetch everything fetches less often. */
const pauseMs = 500

/** Fetches queries again, one round after the other: a change during a round leads to another round. */
function createRefresher(queries: QueryClient) {
  const wanted = new Set<ChangeKind>()
  let running = false
  return async (kinds: readonly ChangeKind[]) => {
    for (const kind of kinds) wanted.add(kind)
    if (running) return
    running = true
    while (wanted.size > 0) {
      const taken = new Set(wanted)
      wanted.clear()
      const predicate = (query: Query) =>
        !isDeep(query.state.data) && !!query.meta?.kinds?.some((kind) => taken.has(kind))
      await queries.invalidateQueries({ predicate })
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    running = false
  }
}

/**
 * Listens to the changes of a project while a page of it is open, and fetches again what they concern. Returns whether
 * the service can be reached.
 */
export function useChanges(projectId: string | undefined): boolean {
  const queries = useQueryClient()
  const [reachable, setReachable] = useState(true)
  useEffect(() => {
    if (projectId === undefined) return
    const refresh = createRefresher(queries)
    const heard: Followed = {
      changed: (kinds) => void refresh(kinds),
      // Changes before the stream was ready were not told.
      ready: (again) =>
        void queries.invalidateQueries({
          predicate: (query) =>
            !isDeep(query.state.data) && (again || (!!query.meta?.kinds && query.state.dataUpdatedAt > 0))
        }),
      reachable: setReachable
    }
    return follow(`/manage/v1/projects/${encodeURIComponent(projectId)}/changes`, heard)
  }, [projectId, queries])
  return reachable
}
