import { appendFileSync } from 'node:fs'

/** A measured figure. `value`, `goal`, peers, limit and growth have the same unit. */
export interface Figure {
  /** Words that name it in the table, such as `CPU for a push`. It stays the same from run to run. */
  name: string
  value: number
  /** Such as `µs`, `messages/s`, `ms`, `MB`, or `×` where the figure is a ratio. */
  unit: string
  better: 'less' | 'more'
  /** What we want to reach. */
  goal?: number
  /** The same work done by others, in the same run and interleaved. */
  peers?: Record<string, number>
  /** What the machine allows: the same work without anything that we add. */
  limit?: { name: string; value: number }
  /** The cost of a unit at several sizes, in the unit of the figure or in the one given. */
  growth?: Growth
  /** What a reader must know to read the figure, such as `simulator inside`. */
  note?: string
}

export interface Growth {
  /** What grows, such as `pushes` or `users in the project`. */
  of: string
  unit: string
  /** Size and cost, smallest size first: 1,000, 100,000 and 1,000,000 where time allows. */
  points: [size: number, cost: number][]
}

/**
 * Reports a figure of a benchmark. It is printed, and `npm run bench`, which names a file in BENCH_FIGURES, reads it there.
 * A benchmark reports each figure once, when it is known: figures of a benchmark that is stopped later count.
 */
export function report(figure: Figure): void {
  const file = process.env.BENCH_FIGURES
  if (file) appendFileSync(file, `${JSON.stringify(figure)}\n`)
  console.log(`figure: ${sentenceOf(figure)}`)
}

function sentenceOf({ name, value, unit, better, goal, peers, limit, growth, note }: Figure): string {
  const others = [...Object.entries(peers ?? {}), ...(limit ? [[limit.name, limit.value] as const] : [])]
  const beside = others.map(([who, theirs]) => `${who} ${shown(theirs)} (${(value / theirs).toFixed(2)})`)
  const sizes = growth?.points.map(([size, cost]) => `${shown(cost)} at ${size.toLocaleString('en')}`)
  return [
    `${name}: ${shown(value)} ${unit}`,
    ...(goal === undefined ? [] : [`goal ${better === 'less' ? '≤' : '≥'} ${shown(goal)}`]),
    ...beside,
    ...(sizes?.length ? [`${growth!.unit} by ${growth!.of}: ${sizes.join(', ')}`] : []),
    ...(note ? [note] : [])
  ].join('; ')
}

/** Three digits are what a measurement is worth. */
export function shown(value: number): string {
  if (value !== 0 && Math.abs(value) < 100) return Number(value.toPrecision(3)).toString()
  return Math.round(value).toLocaleString('en')
}

/** How the cost changes from the smallest size to the largest: `flat (1.03 ×)`, or `2.4 × from 1,000 to 1,000,000`. */
export function growthInWords({ points }: Growth): string {
  const [[least, first], [most, last]] = [points[0]!, points.at(-1)!]
  const times = last / first
  if (times > 1.25) return `${times.toFixed(2)} × from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`
  return times < 0.8 ? `falls (${times.toFixed(2)} ×)` : `flat (${times.toFixed(2)} ×)`
}
