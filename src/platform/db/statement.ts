import { type ElementType, listsOf } from './lists.ts'

/** A named prepared statement. Its text is fixed when the module loads: no value ever becomes SQL text. */
export interface Statement {
  readonly name: string
  readonly text: string
  /**
   * The reason why a statement may touch tenant tables without naming one project (sweeps, for example). Empty for all
   * others.
   */
  readonly acrossProjects: string
  /** Its parameters that are lists and travel in binary. */
  readonly lists?: ReadonlyMap<number, ElementType>
}

/** Every statement of the service, for the test that checks `project_id = $n` on each tenant table. */
export const statements = new Map<string, Statement>()

/** Defines a statement once. Its name, `capability.verb`, appears in PostgreSQL's statistics. */
export function statement(name: string, text: string, options: { acrossProjects?: string } = {}): Statement {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const defined = Object.freeze({
    name,
    text,
    acrossProjects: options.acrossProjects ?? '',
    lists: listsOf(text)
  })
  statements.set(name, defined)
  return defined
}

/**
 * A project's row, locked until the end of the transaction, for a statement that writes rows of the project into a table
 * without a foreign key to it. It is empty if the project is being erased. A foreign key would lock the row again for
 * each written row (docs/decisions/0003). An insertion that selects from it is sent to one shard by Citus as a whole.
 */
export const lockedProject =
  '(select project_id from projects where project_id = $1 and deleted_at is null for key share)'

/** The same at the beginning of a statement, for several parts of it. Citus runs such parts one after the other. */
export const heldProject = `with project as ${lockedProject}`

/**
 * A time after a duration, in SQL. The sum of a timestamptz and an interval depends on the time zone of the session, so
 * PostgreSQL calls it STABLE, and Citus refuses such a function where a row is changed. In UTC the sum is IMMUTABLE.
 */
export const later = (time: string, duration: string): string =>
  `((${time}) at time zone 'UTC' + ${duration}) at time zone 'UTC'`

/**
 * Many JSON values in one parameter, for statements that store them unchanged. PostgreSQL splits a list in half the
 * time that json_to_recordset needs, which builds a table of names for each row. JSON escapes control characters, so
 * the separator cannot occur in a value. An absent value is null.
 */
export const asTexts = (values: unknown[]): string =>
  joined(values.map((value) => (value === undefined ? '' : JSON.stringify(value))))

/** Joins values that are already serialized into one parameter, like `asTexts`; an absent value is empty. */
export const joined = (values: string[]): string => values.join('\x1e')

/** The parameter that `asTexts` made, as a list. */
export const texts = (parameter: `$${number}`): string => `string_to_array(${parameter}, chr(30), '')`
