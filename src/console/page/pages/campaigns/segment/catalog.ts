import { useQuery } from '@tanstack/react-query'
import type { EventNames, Properties } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'

export type Property = Properties['items'][number]
const none: Properties = { items: [], sampled: 0, complete: false }

/** The properties of users, of devices, or of events of one name; empty until they are known. */
export function useProperties(of: 'user' | 'device' | { event: string }): Properties {
  const projectId = useProjectId()
  const query = typeof of === 'string' ? { of } : of
  const { data } = useQuery({
    queryKey: ['properties', projectId, query],
    queryFn: ({ signal }) => project<Properties>(projectId, 'GET', '/properties', { query, signal }),
    enabled: typeof of === 'string' || of.event !== '',
    staleTime: 60_000,
    retry: false
  })
  return data ?? none
}

/** The names of events; undefined until they are known. */
export function useEventNames(): EventNames | undefined {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['event names', projectId],
    queryFn: ({ signal }) => project<EventNames>(projectId, 'GET', '/event-names', { signal }),
    staleTime: 60_000,
    retry: false
  })
  return data
}
