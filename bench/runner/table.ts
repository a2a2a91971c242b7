import { type Figure, growthInWords, shown } from '../support/figures.ts'

/** The columns of a figure in the table: name, value, goal, ratios to peers and to the limit, growth. */
export interface Row {
  figure: string
  value: string
  goal: string
  beside: string
  growth: string
}

export function rowOf(figure: Figure): Row {
  const { name, value, unit, better, goal, peers = {}, limit, growth, note } = figure
  const ratios = [
    ...Object.entries(peers).map(([who, theirs]) => `${shown(value / theirs)} × ${who}`),
    ...(limit ? [`${shown(value / limit.value)} × ${limit.name} (limit)`] : [])
  ]
  const isMet = goal === undefined || (better === 'less' ? value <= goal : value >= goal)
  return {
    figure: note ? `${name} (${note})` : name,
    value: `${shown(value)} ${unit}`,
    goal: goal === undefined ? '' : `${better === 'less' ? '≤' : '≥'} ${shown(goal)} ${isMet ? '✓' : '✗'}`,
    beside: ratios.join(', '),
    growth: growth && growth.points.length > 1 ? growthInWords(growth) : ''
  }
}

const titles: Row = {
  figure: 'figure',
  value: 'value',
  goal: 'goal',
  beside: 'ratio to peers and limit',
  growth: 'growth'
}
const columns = Object.keys(titles) as (keyof Row)[]

/** For a terminal. */
export function tableOf(figures: Figure[]): string {
  const rows = [titles, ...figures.map(rowOf)]
  const widths = columns.map((column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map((row) =>
      columns
        .map((column, place) => row[column].padEnd(widths[place]!))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}
