import type { Db } from '../db/db.ts'
import { OperatorError } from '../errors.ts'
import { type SealedPlace, type SealedStatements, sealedStatements } from './sealed-store.ts'
import { checkName, open, seal } from './secrets.ts'

type Row = Record<string, string>

interface SealedColumn extends SealedStatements {
  name: string
  column: string
  context: (row: Row) => string
}

const columns: SealedColumn[] = []

/**
 * Registers a column of sealed texts, so that a change of the master key finds them. `context` returns the context that
 * the text of a row was sealed with; it gets the columns of `by`, as text. Empty texts are skipped.
 */
export function sealedColumn({ context, ...place }: SealedPlace & { context: (row: Row) => string }): void {
  const { table, column } = place
  columns.push({ name: `${table}.${column}`, column, context, ...sealedStatements(place) })
}

sealedColumn({
  table: 'settings',
  column: 'value',
  by: ['name'],
  only: `name = '${checkName}'`,
  context: ({ name }) => name!
})

/** Opens every text with the old key and seals it with the new one. Returns the number of texts of each column. */
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
    // The rows are not locked, because a distributed database locks no rows of several projects in one statement.
    if (rows.length > 0 && (await tx.run(change, [old, fresh])) !== rows.length)
      throw new OperatorError(`A secret in ${name} changed meanwhile. Nothing was changed; repeat the command.`)
    counts[name] = rows.length
  }
  return counts
}

/**
 * Deletes every row that only a lost key could open, together with the check of the key: the next start accepts its own
 * key. Returns the number of rows of each column.
 */
export async function forgetAll(tx: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name, forget } of columns) counts[name] = await tx.run(forget)
  return counts
}
