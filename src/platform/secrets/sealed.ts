import type { Db } from '../db/db.ts'
import { type Statement, statement } from '../db/statement.ts'
import { OperatorError } from '../errors.ts'
import { checkName, open, seal } from './secrets.ts'

type Row = Record<string, string>

interface SealedColumn {
  name: string
  column: string
  list: Statement
  change: Statement
  forget: Statement
  context: (row: Row) => string
}

const columns: SealedColumn[] = []

/**
 * Tells that a column holds texts sealed with the master key, so that changing the key finds them. `context` gets a row
 * with the columns of `by`, as text, and answers what its text was sealed with. An empty text is left as it is.
 */
export function sealedColumn({
  table,
  column,
  by,
  only = 'true',
  context
}: {
  table: string
  column: string
  by: readonly string[]
  /** Which rows, where not all are sealed. */
  only?: string
  context: (row: Row) => string
}): void {
  const acrossProjects = 'the master key is that of the whole installation'
  const named = by.map((name) => `${name}::text as ${name}`).join(', ')
  columns.push({
    name: `${table}.${column}`,
    column,
    context,
    list: statement(
      `sealed.list_${table}_${column}`,
      `select ${named}, ${column} from ${table} where ${column} <> '' and ${only} order by ${by.join(', ')} for update`,
      { acrossProjects }
    ),
    // No two sealed texts are alike, so the old one is the key.
    change: statement(
      `sealed.change_${table}_${column}`,
      `update ${table} set ${column} = changed.fresh
         from unnest($1::text[], $2::text[]) as changed (old, fresh) where ${table}.${column} = changed.old`,
      { acrossProjects }
    ),
    forget: statement(`sealed.forget_${table}_${column}`, `delete from ${table} where ${column} <> '' and ${only}`, {
      acrossProjects
    })
  })
}

sealedColumn({
  table: 'settings',
  column: 'value',
  by: ['name'],
  only: `name = '${checkName}'`,
  context: ({ name }) => name!
})

/** Opens everything with the old key and seals it with the new one. Answers how many texts of which column. */
export async function resealAll(tx: Db, oldKey: Buffer, newKey: Buffer): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name, column, list, change, context } of columns) {
    const rows = await tx.query<Row>(list)
    const old = rows.map((row) => row[column]!)
    const fresh = rows.map((row) => {
      try {
        return seal(newKey, context(row), open(oldKey, context(row), row[column]!))
      } catch {
        const { [column]: _, ...where } = row
        throw new OperatorError(
          `A secret in ${name} does not open with the old key (${Object.values(where).join(', ')}). Nothing was changed.`
        )
      }
    })
    if (rows.length > 0) await tx.run(change, [old, fresh])
    counts[name] = rows.length
  }
  return counts
}

/**
 * Removes every row that only a lost key would open, and the check of the key with them: the next start takes the key it
 * has. Answers how many rows by which column.
 */
export async function forgetAll(tx: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name, forget } of columns) counts[name] = await tx.run(forget)
  return counts
}
