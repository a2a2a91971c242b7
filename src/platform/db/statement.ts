/** A named prepared statement. Its text is fixed when the module loads: no value ever becomes SQL text. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** Why a statement may touch tenant tables without naming one project (sweeps and the like). Empty for all others. */
  readonly acrossProjects: string
}

/** Every statement of the service, for the test that checks `project_id = $n` on each tenant table. */
export const statements = new Map<string, Statement>()

/** Defines a statement once. The name is `capability.verb` and is what PostgreSQL's statistics will show. */
export function statement(name: string, text: string, options: { acrossProjects?: string } = {}): Statement {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const defined = Object.freeze({ name, text, acrossProjects: options.acrossProjects ?? '' })
  statements.set(name, defined)
  return defined
}

/**
 * The beginning of a statement that writes rows of a project into a table without a foreign key to it: `project` is the
 * project's row, held until the end of the transaction, or nothing where the project is being erased. A foreign key
 * would lock that row again for each row written (docs/decisions/0003).
 */
export const heldProject =
  'with project as (select project_id from projects where project_id = $1 and deleted_at is null for key share)'

/**
 * Many JSON values in one parameter, for statements that store them as they are: PostgreSQL takes lists apart in half
 * the time that json_to_recordset needs, which makes a table of names for each row. JSON escapes control characters,
 * so that the separator cannot occur in it. An absent value is null.
 */
export const asTexts = (values: unknown[]): string =>
  joined(values.map((value) => (value === undefined ? '' : JSON.stringify(value))))

/** The same of values that are written out already; an absent one is empty. */
export const joined = (values: string[]): string => values.join('\x1e')

/** The parameter that `asTexts` made, as a list. */
export const texts = (parameter: `$${number}`): string => `string_to_array(${parameter}, chr(30), '')`
