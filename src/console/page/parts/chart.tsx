import { Box, Text } from '@mantine/core'

export interface Minute {
  minute: string
  sent: number
  failed: number
  delivered: number
  tapped: number
}

const width = 600
const height = 120
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** A bar for each minute: what was sent, with what failed on top. */
export function MinuteChart({ minutes }: { minutes: Minute[] }) {
  const most = Math.max(1, ...minutes.map(({ sent, failed }) => sent + failed))
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
        aria-label={`Messages by minute; at most ${most} in one`}
      >
        <title>{`Messages by minute; at most ${most} in one`}</title>
        {minutes.map(({ minute, sent, failed }, index) => (
          <g key={minute}>
            <rect
              x={index * step}
              y={height - tall(sent)}
              width={step - 1}
              height={tall(sent)}
              fill="var(--mantine-color-teal-6)"
            />
            <rect
              x={index * step}
              y={height - tall(sent) - tall(failed)}
              width={step - 1}
              height={tall(failed)}
              fill="var(--mantine-color-red-6)"
            />
          </g>
        ))}
        <line x1="0" y1={height} x2={width} y2={height} stroke="var(--mantine-color-dimmed)" />
      </svg>
      <Text size="xs" c="dimmed" ta="right">
        {minutes[0] && clock.format(new Date(minutes[0].minute))} to now, at most {most} a minute
      </Text>
    </Box>
  )
}
