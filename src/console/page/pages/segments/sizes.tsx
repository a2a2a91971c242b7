import { Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Page, SegmentCount, SegmentSize } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { BarChart } from '../../parts/charts/bar-chart.tsx'
import { Loaded } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import { countedText } from '../campaigns/segment/segment-size.tsx'

/** The size of a saved segment now and on the days before. */
export function SegmentSizes({ segmentId, version }: { segmentId: string; version: number }) {
  const projectId = useProjectId()
  const path = `/segments/${encodeURIComponent(segmentId)}`
  const count = useQuery({
    queryKey: ['segment count', projectId, segmentId, version],
    queryFn: () => project<SegmentCount>(projectId, 'POST', `${path}:count`)
  })
  const sizes = useQuery({
    queryKey: ['segment sizes', projectId, segmentId],
    queryFn: () => project<Page<SegmentSize>>(projectId, 'GET', `${path}/sizes`, { query: { limit: 90 } })
  })
  return (
    <Stack component="section" aria-label="Size" gap="xs" maw={640}>
      <Title order={2} size="h4">
        Size
      </Title>
      <Loaded query={count}>
        {({ users, reachable_users, devices, complete, ...rest }) => (
          <Text role="status">
            {complete ? '' : 'At least '}
            <b>{plural(users, 'user')}</b> now, of whom {reachable_users.toLocaleString()} can be reached by a push, on{' '}
            {plural(devices, 'device')}.{countedText(rest)}
          </Text>
        )}
      </Loaded>
      <Loaded query={sizes}>
        {({ items }) =>
          items.length === 0 ? (
            <Text c="dimmed">The size over time appears here from the first day on.</Text>
          ) : (
            <SizeChart days={items.toReversed()} />
          )
        }
      </Loaded>
    </Stack>
  )
}

/** Days are those of UTC. */
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A bar for each day: users who can be reached, and above them all others. */
const SizeChart = ({ days }: { days: SegmentSize[] }) => (
  <BarChart
    label="Users by day"
    caption={(most) => `Peak ${most.toLocaleString()}`}
    timeOf={(day) => date.format(new Date(day))}
    height={100}
    points={days.map(({ day, users, reachable_users }) => ({
      at: day,
      counts: { reachable: reachable_users, others: users - reachable_users }
    }))}
    bars={[
      { name: 'reachable', color: 'var(--mantine-color-teal-6)', text: 'Reachable by push' },
      { name: 'others', color: 'var(--mantine-color-gray-5)', text: 'Other users' }
    ]}
  />
)
