import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { Page } from '../../../wire.ts'
import { type CallOptions, project } from './client.ts'
import { useProjectId } from './session.ts'

/** A list of the project, loaded page by page, newest first. */
export function usePagedList<Item>(path: string, query: CallOptions['query'] = {}, refetchMs: number | false = false) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const queryKey = ['list', projectId, path, query]
  const pages = useInfiniteQuery<Page<Item>, Error, InfiniteData<Page<Item>>, unknown[], string | undefined>({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      project<Page<Item>>(projectId, 'GET', path, { query: { ...query, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // A refetch loads every page again, so a list that was scrolled far back stops renewing itself.
    refetchInterval: ({ state }) => (isDeep(state.data) ? false : refetchMs),
    refetchOnWindowFocus: ({ state }) => !isDeep(state.data)
  })
  const stopped = refetchMs !== false && isDeep(pages.data)
  return { ...pages, ...(stopped && { restart: () => void queries.resetQueries({ queryKey }) }) }
}

/** `restart` is there when the list has stopped renewing itself: it goes back to the newest page. */
export type PagedList<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>, Error> & { restart?: () => void }

const isDeep = (data: InfiniteData<Page<unknown>> | undefined) => (data?.pages.length ?? 0) > 3
