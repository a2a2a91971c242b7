// Renders the few constructs of templates that our chart uses, because Debian has no helm: paths, if, not, default, quote,
// toYaml and nindent. Any other construct throws, so that the chart stays within them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { Json } from '../support/http.ts'

/** The files that the chart makes, by name, with some values replaced. */
export function renderChart(folder: string, change: (values: Json) => void = () => {}): Map<string, string> {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const chart = parse(read('Chart.yaml'))
  const values = parse(read('values.yaml'))
  change(values)
  const scope = { Values: values, Release: { Name: 'tidings' }, Chart: { AppVersion: chart.appVersion } }
  const names = readdirSync(join(folder, 'templates'))
  return new Map(names.map((name) => [name, rendered(read(join('templates', name)), scope)]))
}

function rendered(template: string, scope: Json): string {
  // A dash removes the white space on its side.
  const trimmed = template.replace(/\s*\{\{-/g, '{{').replace(/-\}\}\s*/g, '}}')
  const open: boolean[] = []
  let text = ''
  for (const [index, part] of trimmed.split(/\{\{(.*?)\}\}/).entries()) {
    const shown = open.every(Boolean)
    if (index % 2 === 0) {
      if (shown) text += part
      continue
    }
    const action = part.trim()
    if (action === 'end') {
      if (open.pop() === undefined) throw new Error('an end without an if')
    } else if (action.startsWith('if ')) open.push(holds(action.slice(3), scope))
    else if (shown) text += value(action, scope)
  }
  if (open.length > 0) throw new Error('an if without an end')
  return text
}

function holds(condition: string, scope: Json): boolean {
  const negated = condition.startsWith('not ')
  const found = at(negated ? condition.slice(4) : condition, scope)
  const empty = !found || (typeof found === 'object' && Object.keys(found).length === 0)
  return negated === empty
}

function value(action: string, scope: Json): string {
  const [first, ...filters] = action.split('|').map((one) => one.trim()) as [string, ...string[]]
  const yaml = /^toYaml (\S+)$/.exec(first)
  let found = yaml ? stringify(at(yaml[1]!, scope)).trimEnd() : at(first, scope)
  for (const filter of filters) {
    const [name, argument = ''] = filter.split(' ')
    if (name === 'quote') found = JSON.stringify(String(found))
    else if (name === 'default') found = found || at(argument, scope)
    else if (name === 'nindent') found = `\n${found.replace(/^/gm, ' '.repeat(Number(argument)))}`
    else throw new Error(`the filter ${filter} is not known here`)
  }
  return String(found)
}

function at(path: string, scope: Json): Json {
  if (!/^(\.\w+)+$/.test(path)) throw new Error(`${path} is not known here`)
  let found = scope
  for (const name of path.slice(1).split('.')) {
    if (found?.[name] === undefined) throw new Error(`${path} has no value`)
    found = found[name]
  }
  return found
}
