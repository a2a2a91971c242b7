import { Box, Group, Text } from '@mantine/core'
import type { CampaignStats } from '../../../../../wire.ts'

const width = 600
const height = 140

const shades = {
  sent: 'var(--mantine-color-teal-6)',
  failed: 'var(--mantine-color-red-6)',
  tapped: 'var(--mantine-color-orange-6)',
  converted: 'var(--mantine-color-indigo-5)'
} as const

/** A bar for each point with sent and failed messages; lines for taps and conversions. */
export function SeriesChart({ series, hourly }: { series: CampaignStats['series']; hourly: boolean }) {
  const most = Math.max(
    1,
    ...series.map(({ sent, failed, tapped, converted }) => Math.max(sent + failed, tapped, converted))
  )
  const step = width / Math.max(1, series.length)
  const tall = (count: number) => (count / most) * height
  // Points are whole hours and days in UTC; shown in the zone of the reader, a day would have another name.
  const clock = new Intl.DateTimeFormat(undefined, {
    dateStyle: 'medium',
    ...(hourly && { timeStyle: 'short' }),
    timeZone: 'UTC'
  })
  const textOf = (at: string | undefined) => (at ? clock.format(new Date(at)) : '')
  // A line of zeros would hide the axis.
  const lines = (['tapped', 'converted'] as const).filter((name) => series.some((point) => point[name] > 0))
  const label = `Messages per ${hourly ? 'hour' : 'day'}, ${most.toLocaleString()} at most`
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
        {series.map(({ at, sent, failed, tapped, converted }, index) => (
          <g key={at}>
            <title>{`${textOf(at)}: ${sent} sent, ${failed} failed, ${tapped} tapped, ${converted} converted`}</title>
            <rect x={index * step} y={0} width={step} height={height} fill="transparent" />
            <rect x={index * step} y={height - tall(sent)} width={step * 0.85} height={tall(sent)} fill={shades.sent} />
            <rect
              x={index * step}
              y={height - tall(sent) - tall(failed)}
              width={step * 0.85}
              height={tall(failed)}
              fill={shades.failed}
            />
          </g>
        ))}
        {lines.map((name) => (
          <polyline
            key={name}
            points={series.map((point, at) => `${(at + 0.42) * step},${height - tall(point[name])}`).join(' ')}
            fill="none"
            stroke={shades[name]}
            strokeWidth="2"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        <line x1="0" y1={height} x2={width} y2={height} stroke="var(--mantine-color-dimmed)" />
      </svg>
      <Group justify="space-between" gap="xs">
        <Group gap="sm">
          {Object.entries(shades).map(([name, shade]) => (
            <Group key={name} gap={4}>
              <Box w={10} h={10} bg={shade} aria-hidden />
              <Text size="xs" tt="capitalize">
                {name}
              </Text>
            </Group>
          ))}
        </Group>
        <Text size="xs" c="dimmed">
          {textOf(series[0]?.at)} to {textOf(series.at(-1)?.at)} (UTC) · peak {most.toLocaleString()}
        </Text>
      </Group>
    </Box>
  )
}
