import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Page, SegmentCount, SegmentSize } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { Loaded } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'

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
        {({ users, reachable_users, devices, complete }) => (
          <Text role="status">
            {complete ? '' : 'At least '}
            <b>{plural(users, 'user')}</b> now, of whom {reachable_users.toLocaleString()} can be reached by a push, on{' '}
            {plural(devices, 'device')}.
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

const width = 600
const height = 100

/** A bar for each day: all users, and in front of it those who can be reached. */
function SizeChart({ days }: { days: SegmentSize[] }) {
  const most = Math.max(1, ...days.map(({ users }) => users))
  const step = width / days.length
  const bar = (index: number, count: number, fill: string) => {
    const tall = (count / most) * height
    return <rect x={index * step} y={height - tall} width={Math.max(1, step - 2)} height={tall} fill={fill} />
  }
  const label = `Users by day, from ${days[0]!.day} to ${days.at(-1)!.day}, at most ${most.toLocaleString()}`
  return (
    <Box>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <title>{label}</title>
        {days.map(({ day, users, reachable_users }, index) => (
          <g key={day}>
            <title>{`${day}: ${plural(users, 'user')}, ${reachable_users.toLocaleString()} reachable`}</title>
            {bar(index, users, 'var(--mantine-color-gray-5)')}
            {bar(index, reachable_users, 'var(--mantine-color-teal-6)')}
          </g>
        ))}
        <line x1="0" y1={height} x2={width} y2={height} stroke="var(--mantine-color-dimmed)" />
      </svg>
      <Group justify="space-between" gap="xs">
        <Group gap="sm">
          <Legend color="var(--mantine-color-gray-5)" text="Users" />
          <Legend color="var(--mantine-color-teal-6)" text="Reachable by push" />
        </Group>
        <Text size="xs" c="dimmed">
          {days[0]!.day} to {days.at(-1)!.day} · peak {most.toLocaleString()}
        </Text>
      </Group>
    </Box>
  )
}

const Legend = ({ color, text }: { color: string; text: string }) => (
  <Group gap={4}>
    <Box w={10} h={10} bg={color} aria-hidden />
    <Text size="xs">{text}</Text>
  </Group>
)
