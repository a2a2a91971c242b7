import type { readStats } from './reading.ts'
import { type By, names } from './store.ts'

/** A spreadsheet would run a cell that begins like this as a formula. */
const formula = /^[=+\-@\t\r]/

const cell = (value: string | number): string => {
  if (typeof value === 'number') return String(value)
  const safe = formula.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A table with a line for each point, or for each point and group that has figures. */
export function csvOf(
  stats: Pick<Awaited<ReturnType<typeof readStats>>, 'series' | 'cells'>,
  by: By | undefined
): string {
  const lines: (string | number)[][] = by
    ? stats.cells.map(({ at, key, figures }) => [at, key ?? '', ...names.map((name) => figures[name])])
    : stats.series.map((point) => [point.at, ...names.map((name) => point[name])])
  return [['at', ...(by ? [by] : []), ...names], ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('')
}
