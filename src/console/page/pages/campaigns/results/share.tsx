import { Box, Text } from '@mantine/core'
import { wilson } from '../../../../../stats/wilson.ts'

export const percent = (rate: number) => `${(rate * 100).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`

/** A share of cases with its interval, in numbers and as a bar: the tick is the share, the bar what it may be. */
export function Share({ hits, cases }: { hits: number; cases: number }) {
  const interval = wilson(hits, cases)
  if (!interval) return <Text size="sm">{hits.toLocaleString()}</Text>
  const [low, high] = interval
  return (
    <Box miw={110}>
      <Text size="sm">
        {hits.toLocaleString()} · {percent(hits / cases)}
      </Text>
      <Text size="xs" c="dimmed">
        {percent(low)} to {percent(high)}
      </Text>
      <svg viewBox="0 0 100 6" width="100%" height={6} preserveAspectRatio="none" aria-hidden="true">
        <rect x={0} y={2.5} width={100} height={1} fill="var(--mantine-color-default-border)" />
        <rect
          x={low * 100}
          y={1}
          width={Math.max(0.5, (high - low) * 100)}
          height={4}
          fill="var(--mantine-color-indigo-5)"
        />
        <rect x={Math.min(99, (hits / cases) * 100)} y={0} width={1} height={6} fill="var(--mantine-color-text)" />
      </svg>
    </Box>
  )
}
