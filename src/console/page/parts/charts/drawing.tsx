/** A count that the chart shows: its name in the points, its colour, and its words in the legend. */
export interface Shown<Name extends string> {
  name: Name
  color: string
  text: string
}

export interface Point<Name extends string> {
  at: string
  counts: Record<Name, number>
}

const width = 600

/** Bars and lines over a grid. It is stretched to the width of its place, so texts stand outside of it. */
export function Drawing<Name extends string>({
  points,
  bars,
  lines,
  height,
  ticks,
  chosen
}: {
  points: Point<Name>[]
  bars: Shown<Name>[]
  lines: Shown<Name>[]
  height: number
  ticks: number[]
  /** The point that is read. */
  chosen: number | undefined
}) {
  const step = width / Math.max(1, points.length)
  const tall = (count: number) => (count / ticks[0]!) * height
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width="100%" height={height} preserveAspectRatio="none" aria-hidden="true">
      {ticks.map((tick) => (
        <line
          key={tick}
          x1="0"
          x2={width}
          y1={height - tall(tick)}
          y2={height - tall(tick)}
          stroke={tick === 0 ? 'var(--mantine-color-dimmed)' : 'var(--mantine-color-default-border)'}
          vectorEffect="non-scaling-stroke"
        />
      ))}
      {chosen !== undefined && (
        <rect x={chosen * step} y={0} width={step} height={height} fill="var(--mantine-color-default-border)" />
      )}
      {points.map((point, index) =>
        bars.map(({ name, color }, place) => {
          const below = bars.slice(0, place).reduce((sum, bar) => sum + tall(point.counts[bar.name]), 0)
          const own = tall(point.counts[name])
          if (own === 0) return null
          return (
            <rect
              key={`${point.at} ${name}`}
              x={(index + 0.08) * step}
              y={height - below - own}
              width={step * 0.84}
              height={own}
              fill={color}
            />
          )
        })
      )}
      {/* A line of zeros would hide the axis. */}
      {lines
        .filter(({ name }) => points.some(({ counts }) => counts[name] > 0))
        .map(({ name, color }) => (
          <polyline
            key={name}
            points={points.map(({ counts }, at) => `${(at + 0.5) * step},${height - tall(counts[name])}`).join(' ')}
            fill="none"
            stroke={color}
            strokeWidth="2"
            vectorEffect="non-scaling-stroke"
          />
        ))}
    </svg>
  )
}
