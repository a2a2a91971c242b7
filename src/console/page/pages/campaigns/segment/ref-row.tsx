import { Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ListedSegment, Page } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'

/** Saved segments of the project, as far as a select can show them. */
export function useSavedSegments(): ListedSegment[] {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['saved segments', projectId],
    queryFn: () => project<Page<ListedSegment>>(projectId, 'GET', '/segments', { query: { limit: 200 } }),
    staleTime: 30_000,
    retry: false
  })
  return data?.items ?? []
}

/** Users who are in a saved segment. */
export function RefRow({
  id,
  negated,
  change
}: {
  id: string
  negated: boolean
  change: (id: string, negated: boolean) => void
}) {
  const options = useSavedSegments().map(({ segment_id: value, name: label }) => ({ value, label }))
  const unknown = options.every(({ value }) => value !== id)
  return (
    <>
      <Select
        aria-label="In or not in"
        size="xs"
        w={110}
        allowDeselect={false}
        value={negated ? 'is not in' : 'is in'}
        onChange={(chosen) => change(id, chosen === 'is not in')}
        data={['is in', 'is not in']}
      />
      <Text size="sm">the saved segment</Text>
      <Select
        aria-label="Saved segment"
        size="xs"
        w={220}
        searchable
        allowDeselect={false}
        value={id || null}
        onChange={(next) => next && change(next, negated)}
        data={unknown && id ? [...options, { value: id, label: id }] : options}
      />
    </>
  )
}
