import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Figure } from '../support/figures.ts'
import { chartOf } from './chart.ts'
import { type Bench, plan } from './plan.ts'
import { latest, type Result } from './results.ts'
import { rowOf } from './table.ts'

const root = resolve(import.meta.dirname, '../..')
const page = join(root, 'docs/performance.md')
const images = join(root, 'docs/images/performance')
const [begin, end] = ['<!-- figures: written by npm run bench -->', '<!-- end of figures -->']

interface Found {
  figure: Figure
  result: Result
}

const fileOf = ({ name }: Figure) =>
  `${name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.svg`

/** Draws a chart of the last result of each figure, and writes the figures between the marks of docs/performance.md. */
export function drawPage(): string[] {
  const all = [...latest().values()]
  mkdirSync(images, { recursive: true })
  for (const { figure, result } of all) {
    const { processor, cores } = result.machine
    const source = `${result.date.slice(0, 10)}, ${result.commit}, ${result.form} form, ${cores} cores (${processor})`
    writeFileSync(join(images, fileOf(figure)), chartOf(figure, source))
  }
  const parts = plan.map((bench) => ({ bench, found: all.filter(({ result }) => result.bench === bench.name) }))
  const measured = parts.filter(({ found }) => found.length > 0)
  const sections = measured.map(({ bench, found }) => sectionOf(bench, found))
  const written = readFileSync(page, 'utf8')
  const [before, after] = [written.split(begin)[0]!, written.split(end)[1] ?? '']
  const text = [begin, tableOf(measured.flatMap(({ found }) => found)), ...sections, end].join('\n\n')
  writeFileSync(page, `${before}${text}${after}`)
  return [relative(root, page), `${all.length} charts in ${relative(root, images)}`]
}

function tableOf(found: Found[]): string {
  const rows = found.map(({ figure, result }) => {
    const { figure: name, value, goal, beside, growth } = rowOf(figure)
    return `| ${name} | ${value} | ${goal} | ${beside} | ${growth} | \`${result.bench}\` |`
  })
  const head = '| Figure | Value | Goal | Ratio to peers and limit | Growth | Benchmark |\n|---|---|---|---|---|---|'
  return `${head}\n${rows.join('\n')}`
}

function sectionOf({ name, measures, quick, full }: Bench, found: Found[]): string {
  const { form, commit, date } = found[0]!.result
  const asked = `node bench/${name}.ts ${(form === 'quick' ? quick : full).join(' ')}`
  const charts = found.map(
    ({ figure }) => `![${figure.name}: ${rowOf(figure).value}](images/performance/${fileOf(figure)})`
  )
  return `### ${name}

${measures}

\`npm run bench -- ${name}${form === 'full' ? ' --full' : ''}\`, which runs \`${asked}\`; ${date.slice(0, 10)}, commit ${commit}.

${charts.join('\n\n')}`
}
