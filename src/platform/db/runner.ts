import type pg from 'pg'
import { fail } from './failures.ts'
import { withLists } from './lists.ts'
import type { Statement } from './statement.ts'

/** Runs statements. A transaction and the pool look the same to a store function. */
export interface Db {
  /** All rows. Throws `Unavailable` when the database cannot be reached; any other error is a bug or a broken row. */
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
  /** The first row, if any. */
  one<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row | undefined>
  /** The number of rows that were changed. */
  run(statement: Statement, values?: readonly unknown[]): Promise<number>
  /**
   * All rows of a query that a compiler of ours made, such as a segment; everything else uses statements. The query is
   * not prepared under a name, because each text differs and the plan should know the values. It must follow the rules
   * for statements: no value in the text, `project_id` on each tenant table; the tests of its caller check that.
   */
  adhoc<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
}

export type Send = (config: pg.QueryConfig) => Promise<pg.QueryResult>

/** Statements by a function that sends them; without names, if a pooler may lend another back end to the next one. */
export function runner(send: Send, isLent: boolean): Db {
  const execute = ({ name, text, lists }: Statement, values: readonly unknown[] = []) =>
    send({ ...(!isLent && { name }), text, values: withLists(lists, values) as unknown[] }).catch(fail)
  return {
    query: async <Row>(statement: Statement, values?: readonly unknown[]) =>
      (await execute(statement, values)).rows as Row[],
    one: async <Row>(statement: Statement, values?: readonly unknown[]) =>
      (await execute(statement, values)).rows[0] as Row | undefined,
    run: async (statement, values) => (await execute(statement, values)).rowCount ?? 0,
    adhoc: async <Row>(text: string, values: readonly unknown[]) =>
      (await send({ text, values: values as unknown[] }).catch(fail)).rows as Row[]
  }
}

/** Statements on one session, in the transaction that its owner began; unnamed if it may be lent by a pooler. */
export const onClient = (client: pg.ClientBase, isLent = true): Db => runner((config) => client.query(config), isLent)
