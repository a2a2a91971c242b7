import { type Cell, printable, record, shortened, table } from '../output.ts'

/** A task as far as these commands show it. */
export interface Task {
  id: string
  status: { state: string; message?: { parts: Part[] } }
  artifacts?: { name: string; parts: Part[] }[]
}

interface Part {
  text?: string
  data?: unknown
}

const longestCell = 60

/** The state of a task, its question or its reason, and its results. */
export function shownTask({ id, status: { state, message }, artifacts = [] }: Task): string {
  const said = message?.parts.flatMap(({ text }) => text ?? []).join(' ')
  const head = record([['task', id], ['state', state], ...(said ? [['message', said] as const] : [])])
  const results = artifacts.flatMap(({ parts }) => parts.flatMap(({ data }) => (isObject(data) ? shownData(data) : [])))
  return [head, ...results].join('\n\n')
}

/** Plain fields in lines, and each list of objects as a table below them. */
export function shownData(data: object): string[] {
  const entries = Object.entries(data)
  const lists = entries.filter(([, value]) => isList(value))
  const fields = entries.filter(([, value]) => !isList(value)).map(([name, value]) => [name, cellOf(value)] as const)
  return [
    ...(fields.length > 0 ? [record(fields)] : []),
    ...lists.map(([name, list]) => shownList(name, list as object[]))
  ]
}

function shownList(name: string, list: object[]): string {
  if (list.length === 0) return `${printable(name)}: none`
  const columns = [...new Set(list.flatMap(Object.keys))]
  const rows = list.map((one) => columns.map((column) => cellOf((one as Record<string, unknown>)[column])))
  return `${printable(name)}\n${table(columns, rows)}`
}

const cellOf = (value: unknown): Cell =>
  typeof value === 'object' && value !== null ? shortened(JSON.stringify(value), longestCell) : (value as Cell)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && !Array.isArray(one))
