import { Box, Group, Paper, Text } from '@mantine/core'
import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { Drawing, type Point, type Shown } from './drawing.tsx'
import { roundUp, ticksOf } from './scale.ts'

interface Props<Name extends string> {
  label: string
  /** The words below the chart, beside its legend. */
  caption(most: number): string
  height: number
  points: Point<Name>[]
  /** The time of a point, in words. */
  timeOf(at: string): string
  /** Counts that are stacked in the bar of each point. */
  bars: Shown<Name>[]
  /** Further counts, each a line. */
  lines?: Shown<Name>[]
}

/** The point that each key leads to. */
const moves: Record<string, (at: number, last: number) => number> = {
  ArrowLeft: (at) => Math.max(0, at - 1),
  ArrowRight: (at, last) => Math.min(last, at + 1),
  Home: () => 0,
  End: (_, last) => last
}

/** Counts over time with axes. The pointer or the arrow keys choose a point, whose counts are shown and read out. */
export function BarChart<Name extends string>({
  label,
  caption,
  height,
  points,
  timeOf,
  bars,
  lines = []
}: Props<Name>) {
  // The chosen point by its time, as its place changes when points come and go, and by the label that says what a point is.
  const [choice, setChoice] = useState<{ label: string; at: string }>()
  const last = points.length - 1
  const chosen = choice?.label === label ? points.findIndex(({ at }) => at === choice.at) : -1
  const read = points[chosen]
  const choose = (place: number) => points[place] && setChoice({ label, at: points[place].at })
  const tallest = ({ counts }: Point<Name>) =>
    Math.max(
      bars.reduce((sum, { name }) => sum + counts[name], 0),
      ...lines.map(({ name }) => counts[name])
    )
  const most = Math.max(0, ...points.map(tallest))
  const ticks = ticksOf(roundUp(most))
  const textOf = ({ at, counts }: Point<Name>) =>
    `${timeOf(at)}: ${[...bars, ...lines].map(({ name, text }) => `${counts[name].toLocaleString()} ${text.toLowerCase()}`).join(', ')}`
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key]
    if (!move) return
    event.preventDefault()
    choose(move(read ? chosen : last + 1, last))
  }
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    choose(Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * points.length))))
  }
  return (
    <Box>
      <Group gap="xs" wrap="nowrap" align="stretch">
        <Axis ticks={ticks} height={height} />
        <Box
          pos="relative"
          flex={1}
          tabIndex={0}
          role="slider"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, last)}
          aria-valuenow={read ? chosen : last}
          aria-valuetext={points.length === 0 ? 'No points' : textOf(read ?? points[last]!)}
          onKeyDown={onKeyDown}
          onPointerMove={onPointerMove}
          onPointerLeave={() => setChoice(undefined)}
          onBlur={() => setChoice(undefined)}
        >
          <Drawing points={points} bars={bars} lines={lines} height={height} ticks={ticks} chosen={read && chosen} />
          {read && (
            <Values
              time={timeOf(read.at)}
              values={[...bars, ...lines].map((each) => ({ ...each, count: read.counts[each.name] }))}
              right={chosen < points.length / 2}
            />
          )}
        </Box>
      </Group>
      <Group justify="space-between" gap="xs" pl={52} aria-hidden>
        {[...new Set([0, Math.floor(last / 2), last])].map((index) => (
          <Text key={index} size="xs" c="dimmed">
            {points[index] && timeOf(points[index].at)}
          </Text>
        ))}
      </Group>
      <Group justify="space-between" gap="xs" mt={4}>
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

const short = new Intl.NumberFormat(undefined, { notation: 'compact' })

/** The numbers beside the grid lines. */
const Axis = ({ ticks, height }: { ticks: number[]; height: number }) => (
  <Box w={44} h={height} pos="relative" aria-hidden style={{ flexShrink: 0 }}>
    {ticks.map((tick) => (
      <Text
        key={tick}
        size="xs"
        c="dimmed"
        lh={1}
        pos="absolute"
        right={0}
        style={{ bottom: `calc(${(tick / ticks[0]!) * 100}% - 0.4em)` }}
      >
        {short.format(tick)}
      </Text>
    ))}
  </Box>
)

/** The counts of the chosen point, on the side where they do not cover it. */
const Values = ({
  time,
  values,
  right
}: {
  time: string
  values: (Shown<string> & { count: number })[]
  right: boolean
}) => (
  <Paper
    withBorder
    shadow="sm"
    p="xs"
    pos="absolute"
    top={0}
    {...(right ? { right: 0 } : { left: 0 })}
    style={{ pointerEvents: 'none', zIndex: 1 }}
    aria-hidden
  >
    <Text size="xs" fw={600}>
      {time}
    </Text>
    {values.map(({ name, color, text, count }) => (
      <Group key={name} gap={6} wrap="nowrap">
        <Box w={8} h={8} bg={color} />
        <Text size="xs">
          {text}: {count.toLocaleString()}
        </Text>
      </Group>
    ))}
  </Paper>
)
