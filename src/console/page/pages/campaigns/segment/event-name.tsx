import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Event, Page } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'

/** The name of an event, with those of the latest events as suggestions. */
export function EventName(props: AutocompleteProps) {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['event names', projectId],
    queryFn: async () => {
      const { items } = await project<Page<Event>>(projectId, 'GET', '/events', { query: { limit: 200 } })
      return [...new Set(items.map(({ name }) => name))].sort()
    },
    staleTime: 60_000,
    retry: false
  })
  return <Autocomplete {...props} data={data ?? []} />
}
