import { Box, Group, Text } from '@mantine/core'

const width = 600

/** A count that the chart shows: its name in the points, its colour, and its words in the legend. */
export interface Shown<Name extends string> {
  name: Name
  color: string
  text: string
}

interface Point<Name extends string> {
  at: string
  /** What a pointer on the bar reads. */
  title?: string
  counts: Record<Name, number>
}

/** A bar for each point, in which counts are stacked, and a line for each further count. */
export function BarChart<Name extends string>({
  label,
  caption,
  height,
  points,
  bars,
  lines = []
}: {
  label(most: number): string
  caption(most: number): string
  height: number
  points: Point<Name>[]
  bars: Shown<Name>[]
  lines?: Shown<Name>[]
}) {
  const stacked = ({ counts }: Point<Name>) => bars.reduce((sum, { name }) => sum + counts[name], 0)
  const most = Math.max(
    1,
    ...points.map((point) => Math.max(stacked(point), ...lines.map(({ name }) => point.counts[name])))
  )
  const step = width / Math.max(1, points.length)
  const tall = (count: number) => (count / most) * height
  // A line of zeros would hide the axis.
  const drawn = lines.filter(({ name }) => points.some(({ counts }) => counts[name] > 0))
  return (
    <Box>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={label(most)}
      >
        <title>{label(most)}</title>
        {points.map((point, index) => (
          <g key={point.at}>
            {point.title && <title>{point.title}</title>}
            <rect x={index * step} y={0} width={step} height={height} fill="transparent" />
            {bars.map(({ name, color }, place) => {
              const below = bars.slice(0, place).reduce((sum, bar) => sum + tall(point.counts[bar.name]), 0)
              const own = tall(point.counts[name])
              return (
                <rect
                  key={name}
                  x={index * step}
                  y={height - below - own}
                  width={step * 0.85}
                  height={own}
                  fill={color}
                />
              )
            })}
          </g>
        ))}
        {drawn.map(({ name, color }) => (
          <polyline
            key={name}
            points={points.map(({ counts }, at) => `${(at + 0.42) * step},${height - tall(counts[name])}`).join(' ')}
            fill="none"
            stroke={color}
            strokeWidth="2"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        <line x1="0" y1={height} x2={width} y2={height} stroke="var(--mantine-color-dimmed)" />
      </svg>
      <Group justify="space-between" gap="xs">
        <Group gap="sm">
          {[...bars, ...lines].map(({ name, color, text }) => (
            <Group key={name} gap={4}>
              <Box w={10} h={10} bg={color} aria-hidden />
              <Text size="xs">{text}</Text>
            </Group>
          ))}
        </Group>
        <Text size="xs" c="dimmed">
          {caption(most)}
        </Text>
      </Group>
    </Box>
  )
}
