import { Box, Group, Text } from '@mantine/core'
import type { MessageMinute } from '../../../../wire.ts'

const width = 600
const height = 120
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

const shades = {
  sent: 'var(--mantine-color-teal-6)',
  failed: 'var(--mantine-color-red-6)',
  delivered: 'var(--mantine-color-indigo-5)',
  tapped: 'var(--mantine-color-orange-6)'
} as const

/** A bar for each minute with sent and failed messages; lines for the deliveries and taps that apps reported. */
export function MinuteChart({ minutes }: { minutes: MessageMinute[] }) {
  const most = Math.max(
    1,
    ...minutes.map(({ sent, failed, delivered, tapped }) => Math.max(sent + failed, delivered, tapped))
  )
  // A line of zeros would hide the axis.
  const lines = (['delivered', 'tapped'] as const).filter((name) => minutes.some((minute) => minute[name] > 0))
  const step = width / Math.max(1, minutes.length)
  const tall = (count: number) => (count / most) * height
  return (
    <Box>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Messages per minute, peak ${most}`}
      >
        <title>{`Messages per minute, peak ${most}`}</title>
        {minutes.map(({ minute, sent, failed }, index) => (
          <g key={minute}>
            <rect x={index * step} y={height - tall(sent)} width={step - 1} height={tall(sent)} fill={shades.sent} />
            <rect
              x={index * step}
              y={height - tall(sent) - tall(failed)}
              width={step - 1}
              height={tall(failed)}
              fill={shades.failed}
            />
          </g>
        ))}
        {lines.map((name) => (
          <polyline
            key={name}
            points={minutes.map((minute, at) => `${(at + 0.5) * step},${height - tall(minute[name])}`).join(' ')}
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
          Since {minutes[0] && clock.format(new Date(minutes[0].minute))} · peak {most}/min
        </Text>
      </Group>
    </Box>
  )
}
