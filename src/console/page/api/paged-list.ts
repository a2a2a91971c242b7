import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { ChangeKind, Page } from '../../../wire.ts'
import { type CallOptions, manage, project } from './client.ts'
import { useProjectId } from './session.ts'

/** What the lists of the project show, by the last word of their path. */
const kindsOf: Record<string, readonly ChangeKind[]> = {
  'agent-tasks': ['tasks'],
  approvals: ['approvals'],
  audit: ['audit'],
  campaigns: ['campaigns'],
  devices: ['devices'],
  erasures: ['users'],
  events: ['events'],
  journeys: ['events', 'triggers'],
  keys: ['keys'],
  members: ['members'],
  messages: ['messages'],
  segments: ['segments'],
  triggers: ['triggers'],
  users: ['users'],
  versions: ['campaigns'],
  'webhook-deliveries': ['webhooks'],
  webhooks: ['webhooks']
}

/** A list of the project, loaded page by page, newest first. It is fetched again when its things change. */
export function usePagedList<Item>(path: string, query: CallOptions['query'] = {}) {
  const projectId = useProjectId()
  const read = (options: CallOptions) => project<Page<Item>>(projectId, 'GET', path, options)
  return usePages(['list', projectId, path, query], read, query, kindsOf[path.slice(path.lastIndexOf('/') + 1)])
}

/** A list of the whole installation. */
export const useInstallationList = <Item>(path: string, query: CallOptions['query'] = {}) =>
  usePages(['list', null, path, query], (options) => manage<Page<Item>>('GET', path, options), query)

function usePages<Item>(
  queryKey: unknown[],
  read: (options: CallOptions) => Promise<Page<Item>>,
  query: CallOptions['query'],
  kinds: readonly ChangeKind[] = []
) {
  const queries = useQueryClient()
  const pages = useInfiniteQuery<Page<Item>, Error, InfiniteData<Page<Item>>, unknown[], string | undefined>({
    queryKey,
    queryFn: ({ pageParam, signal }) => read({ query: { ...query, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    meta: { kinds },
    refetchOnWindowFocus: ({ state }) => !isDeep(state.data)
  })
  return { ...pages, ...(isDeep(pages.data) && { restart: () => void queries.resetQueries({ queryKey }) }) }
}

/** `restart` is there when the list has stopped renewing itself: it goes back to the newest page. */
export type PagedList<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>, Error> & { restart?: () => void }

/** A refetch loads every page again, so a list that was scrolled far back stops renewing itself. */
export const isDeep = (data: unknown) => ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) > 3
