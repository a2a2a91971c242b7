import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Migration {
  id: number
  name: string
  statements: string[]
  /** False if code that does not know this migration cannot run on the changed schema. */
  beside: boolean
  /** False if the statements run one by one, because an index is built concurrently. Each can then be repeated. */
  inTransaction: boolean
}

const folder = join(import.meta.dirname, '../../../migrations')
/** The comments by which a file says that it is not of the usual kind. Each is followed by the reason. */
const marks = { alone: /^-- Stop older nodes first: \S/m, single: /^-- Without a transaction: \S/m }

/**
 * The files in order. A statement ends with a semicolon at the end of a line, and each is sent separately: distributed
 * PostgreSQL refuses several in one query string.
 */
export function readMigrations(from: string = folder): Migration[] {
  return filesIn(from).map((file) => readMigration(file.slice(0, -4), readFileSync(join(from, file), 'utf8')))
}

const filesIn = (from: string) =>
  readdirSync(from)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort()

/** The number of the last one. */
export const newestMigration = (): number => Number(filesIn(folder).at(-1)?.slice(0, 4))

export const readMigration = (name: string, text: string): Migration => ({
  id: Number(name.slice(0, 4)),
  name,
  statements: text
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((each) => each.trim())
    .filter((each) => each !== ''),
  beside: !marks.alone.test(text),
  inTransaction: !marks.single.test(text)
})

/** The name of the index that a statement builds concurrently. */
export const builtConcurrently = (statement: string): string | undefined =>
  /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i.exec(statement)?.[1]
