import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { Segment, SegmentCount } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { ApiError } from '../../../api/errors.ts'
import { useProjectId } from '../../../api/session.ts'
import { plural } from '../../../parts/texts.tsx'

/** A condition whose attribute or event is not chosen yet. */
const unnamed = /"(attribute|event)":""/

/** How many users match, a moment after each change. A change ends the count before it. */
export function SegmentSize({ segment }: { segment: Segment | undefined }) {
  const projectId = useProjectId()
  const [asked] = useDebouncedValue(segment ?? {}, 500)
  const isNamed = !unnamed.test(JSON.stringify(asked))
  const { data, error } = useQuery({
    queryKey: ['segment size', projectId, asked],
    enabled: isNamed,
    queryFn: ({ signal }) =>
      project<SegmentCount>(projectId, 'POST', '/segments:count', { body: { segment: asked }, signal }),
    placeholderData: (before) => before,
    staleTime: 10_000,
    retry: false
  })
  const invalid = !isNamed || (error instanceof ApiError && error.status === 400)
  const text = invalid ? 'Complete the conditions to count users.' : error ? undefined : data && sizeText(data)
  return (
    <Text size="sm" c="dimmed" role="status" data-segment-size={data?.users}>
      {text ?? 'Counting users…'}
    </Text>
  )
}

function sizeText({ users, reachable_users, complete, reason, ...rest }: SegmentCount): string {
  if (reason === 'missing_trigger_property') return 'The size depends on trigger properties.'
  if (reason === 'segment_too_slow' || reason === 'segment_invalid')
    return 'These conditions take too long to be counted.'
  if (reason === 'busy' && users === 0) return 'Other segments of the project are being counted.'
  const matching = `${complete ? '' : 'At least '}${plural(users, 'user')} ${users === 1 ? 'matches' : 'match'}`
  return `${matching}, ${reachable_users.toLocaleString()} can be reached.${countedText(rest)}`
}

/** How much of the project a count saw that ran out of time: the numbers before it are of that part only. */
export const countedText = ({ visited, about }: Pick<SegmentCount, 'visited' | 'about'>): string =>
  visited === undefined
    ? ''
    : ` Counted ${about ? `${visited.toLocaleString()} of about ${plural(about, 'user')}` : plural(visited, 'user')}.`
