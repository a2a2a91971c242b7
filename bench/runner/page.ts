import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { chartOf } from './chart.ts'
import { latest } from './results.ts'
import { rowOf } from './table.ts'

const root = resolve(import.meta.dirname, '../..')
const page = join(root, 'docs/performance.md')
const images = join(root, 'docs/images/performance')
const [begin, end] = ['<!-- figures: written by npm run bench -->', '<!-- end of figures -->']

const fileOf = (name: string) =>
  `${name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.svg`

/** Draws a chart of the last result of each figure, and writes the table between the marks of docs/performance.md. */
export function drawPage(): string[] {
  const figures = [...latest().values()]
  mkdirSync(images, { recursive: true })
  for (const { figure, result } of figures) {
    const { processor, cores } = result.machine
    const source = `${result.date.slice(0, 10)}, ${result.commit}, ${result.form} form, ${cores} cores (${processor})`
    writeFileSync(join(images, fileOf(figure.name)), chartOf(figure, source))
  }
  const rows = figures.map(({ figure, result }) => {
    const { figure: name, value, goal, beside, growth } = rowOf(figure)
    const link = `[${name}](images/performance/${fileOf(figure.name)})`
    return `| ${link} | ${value} | ${goal} | ${beside} | ${growth} | \`${result.bench}\`, ${result.commit} |`
  })
  const head =
    '| Figure | Value | Goal | Ratio to peers and limit | Growth | Benchmark, commit |\n|---|---|---|---|---|---|'
  const written = readFileSync(page, 'utf8')
  const [before, after] = [written.split(begin)[0]!, written.split(end)[1] ?? '']
  writeFileSync(page, `${before}${begin}\n\n${head}\n${rows.join('\n')}\n\n${end}${after}`)
  return [relative(root, page), `${figures.length} charts in ${relative(root, images)}`]
}
