import { type Figure, type Growth, growthInWords, shown } from '../support/figures.ts'

// A chart is plain SVG: a bar for each contestant, a line at the goal, and below it the cost at each size.

const width = 680
const left = 190
const barsWidth = 360
const rowHeight = 26

const style = `text{font:13px system-ui,sans-serif;fill:#1f2328}.small{font-size:11px}.soft{fill:#59636e}.ours{fill:#0969da}.theirs{fill:#8c959f}.limit{fill:#afb8c1}
.goal{stroke:#1a7f37;stroke-width:2;stroke-dasharray:4 3}.goaltext{fill:#1a7f37}.axis{stroke:#d1d9e0}.line{fill:none;stroke:#0969da;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.soft{fill:#9198a1}.ours,.dot{fill:#4493f8}.theirs{fill:#656c76}.limit{fill:#3d444d}.goal{stroke:#3fb950}.goaltext{fill:#3fb950}.axis{stroke:#3d444d}.line{stroke:#4493f8}}`

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const text = (x: number, y: number, words: string, kind = '') =>
  `<text x="${x.toFixed(1)}" y="${y}"${kind && ` class="${kind}"`}>${escaped(words)}</text>`

/** The chart of a figure; `source` says where and when it was measured. */
export function chartOf(figure: Figure, source: string): string {
  const bars = barsOf(figure)
  const growth = figure.growth && figure.growth.points.length > 1 ? figure.growth : undefined
  const lineTop = 52 + bars.length * rowHeight + (figure.goal === undefined ? 8 : 26)
  const height = lineTop + (growth ? 128 : 0) + 18
  const direction = figure.better === 'less' ? 'less is better' : 'more is better'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(`${figure.name}: ${shown(figure.value)} ${figure.unit}`)}</title>
<style>${style}</style>
${text(12, 22, `${figure.name}, ${figure.unit}`)}
${text(12, 38, direction, 'small soft')}
${drawnBars(figure, bars).join('\n')}
${growth ? drawnGrowth(growth, lineTop).join('\n') : ''}
${text(12, height - 8, source, 'small soft')}
</svg>
`
}

interface Bar {
  who: string
  value: number
  kind: 'ours' | 'theirs' | 'limit'
}

const barsOf = ({ value, peers = {}, limit }: Figure): Bar[] => [
  { who: 'Tidings', value, kind: 'ours' },
  ...Object.entries(peers).map(([who, theirs]): Bar => ({ who, value: theirs, kind: 'theirs' })),
  ...(limit ? [{ who: limit.name, value: limit.value, kind: 'limit' } as const] : [])
]

function drawnBars({ value: ours, goal }: Figure, bars: Bar[]): string[] {
  const most = Math.max(...bars.map(({ value }) => value), goal ?? 0) || 1
  const long = (value: number) => (barsWidth * value) / most
  const bottom = 50 + bars.length * rowHeight
  const rows = bars.flatMap(({ who, value, kind }, place) => {
    const y = 50 + place * rowHeight
    const ratio = kind === 'ours' ? '' : ` (Tidings: ${shown(ours / value)} ×)`
    return [
      text(12, y + 15, who),
      `<rect x="${left}" y="${y + 3}" width="${Math.max(1, long(value)).toFixed(1)}" height="16" rx="2" class="${kind}"/>`,
      text(left + long(value) + 6, y + 15, `${shown(value)}${ratio}`, 'small')
    ]
  })
  if (goal === undefined) return rows
  const x = (left + long(goal)).toFixed(1)
  return [
    ...rows,
    `<line x1="${x}" x2="${x}" y1="48" y2="${bottom + 4}" class="goal"/>`,
    text(Math.min(left + long(goal) - 20, width - 120), bottom + 18, `goal ${shown(goal)}`, 'small goaltext')
  ]
}

/** Sizes on a logarithmic axis, costs from zero. */
function drawnGrowth(growth: Growth, top: number): string[] {
  const { of, unit, points } = growth
  const [low, high] = [Math.log10(points[0]![0]), Math.log10(points.at(-1)![0])]
  const most = Math.max(...points.map(([, cost]) => cost)) || 1
  const at = ([size, cost]: [number, number]): [x: number, y: number] => [
    left + (barsWidth * (Math.log10(size) - low)) / (high - low || 1),
    top + 96 - (62 * cost) / most
  ]
  const places = points.map(at)
  return [
    text(12, top + 14, `${unit} by ${of}: ${growthInWords(growth)}`, 'soft'),
    `<line x1="${left}" x2="${left + barsWidth}" y1="${top + 96}" y2="${top + 96}" class="axis"/>`,
    `<polyline points="${places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')}" class="line"/>`,
    ...points.flatMap(([size, cost], place) => {
      const [x, y] = places[place]!
      return [
        `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3.5" class="ours"/>`,
        text(x - 12, Math.round(y) - 8, shown(cost), 'small'),
        text(x - 18, top + 112, size.toLocaleString('en'), 'small soft')
      ]
    })
  ]
}
