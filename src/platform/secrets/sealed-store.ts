import { type Statement, statement } from '../db/statement.ts'

/** A column whose texts are sealed with the master key. */
export interface SealedPlace {
  table: string
  column: string
  /** The columns that name a row. */
  by: readonly string[]
  /** A condition, if not all rows are sealed. */
  only?: string
}

export interface SealedStatements {
  list: Statement
  change: Statement
  forget: Statement
}

export function sealedStatements({ table, column, by, only = 'true' }: SealedPlace): SealedStatements {
  const acrossProjects = 'the master key is that of the whole installation'
  const named = by.map((name) => `${name}::text as ${name}`).join(', ')
  return {
    list: statement(
      `sealed.list_${table}_${column}`,
      `select ${named}, ${column} from ${table} where ${column} <> '' and ${only} order by ${by.join(', ')}`,
      { acrossProjects }
    ),
    // No two sealed texts are equal, so the old text identifies the row.
    change: statement(
      `sealed.change_${table}_${column}`,
      `update ${table} set ${column} = changed.fresh
         from unnest($1::text[], $2::text[]) as changed (old, fresh) where ${table}.${column} = changed.old`,
      { acrossProjects }
    ),
    forget: statement(`sealed.forget_${table}_${column}`, `delete from ${table} where ${column} <> '' and ${only}`, {
      acrossProjects
    })
  }
}
