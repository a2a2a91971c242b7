import type { Migration } from '../../platform/db/migrations.ts'

/**
 * What a change makes others wait for. `none`: nothing. `brief`: the table is locked for a moment. `writes`: writes of
 * the table wait while an index is built. `table`: all statements on the table wait while its rows are read or written.
 */
export type Waiting = 'none' | 'brief' | 'writes' | 'table'

export interface Change {
  /** The table that it touches; none for a new table or what belongs to none. */
  table?: string
  /** For people: "adds the column nickname to users". */
  does: string
  waiting: Waiting
  /** Why nodes that do not know the change cannot run beside it. */
  breaks?: string
}

const word = String.raw`(?:if not exists |if exists |only )*"?(\w+)"?`
const created = new RegExp(`^create (?:unlogged )?table ${word}`)
const index = new RegExp(`^create (unique )?index (concurrently )?${word} on ${word}`)
const altered = new RegExp(`^alter table ${word} (.*)$`, 's')

/** The changes of a migration, statement by statement. A statement on a table that the migration creates costs nothing. */
export function changesOf({ statements }: Pick<Migration, 'statements'>): Change[] {
  const flat = statements.map((text) => text.replace(/--.*$/gm, ' ').replace(/\s+/g, ' ').trim().toLowerCase())
  const fresh = new Set(flat.flatMap((text) => created.exec(text)?.[1] ?? []))
  return flat.flatMap(changesBy).map((change) => {
    if (change.table === undefined || !fresh.has(change.table)) return change
    return { does: change.does, waiting: 'none' }
  })
}

function changesBy(text: string): Change[] {
  const [, made] = created.exec(text) ?? []
  if (made) return [{ does: `creates the table ${made}`, waiting: 'none' }]
  const [, unique, concurrently, name, on] = index.exec(text) ?? []
  if (on) {
    const waiting = concurrently ? 'none' : 'writes'
    const does = `builds the ${unique ? 'unique ' : ''}index ${name} of ${on}${concurrently ? ' beside the running requests' : ''}`
    return [{ table: on, does, waiting, ...(unique && { breaks: 'they may write rows that it refuses' }) }]
  }
  const [, table, actions] = altered.exec(text) ?? []
  if (table) return splitActions(actions!).map((action) => ({ table, ...actionOf(table, action) }))
  return [otherOf(text)]
}

function otherOf(text: string): Change {
  const [, kind, dropped] = /^drop (table|index)(?: concurrently)? (?:if exists )?"?(\w+)"?/.exec(text) ?? []
  if (kind === 'index') return { does: `drops the index ${dropped}`, waiting: 'brief' }
  if (kind === 'table')
    return { table: dropped!, does: `drops the table ${dropped}`, waiting: 'brief', breaks: 'they use the table' }
  const [, verb, rows] = /^(insert into|update|delete from) (?:only )?"?(\w+)"?/.exec(text) ?? []
  if (verb === 'insert into') return { table: rows!, does: `adds rows to ${rows}`, waiting: 'none' }
  if (verb) return { table: rows!, does: `changes rows of ${rows}`, waiting: 'table' }
  if (/^(comment on|create (sequence|type|schema|collation)) /.test(text)) return { does: text, waiting: 'none' }
  return { does: `runs "${text.slice(0, 60)}"`, waiting: 'table', breaks: 'its effect on them is not known' }
}

type Action = Omit<Change, 'table'>

function actionOf(table: string, action: string): Action {
  const [, column, definition] = /^add column (?:if not exists )?"?(\w+)"? (.*)$/.exec(action) ?? []
  if (column) return { does: `adds the column ${column} to ${table}`, ...columnOf(definition!) }
  for (const [pattern, act] of actions) {
    const found = pattern.exec(action)
    if (found) return act(table, found[1] ?? '')
  }
  return {
    does: `alters ${table}: ${action.slice(0, 60)}`,
    waiting: 'table',
    breaks: 'its effect on them is not known'
  }
}

function columnOf(definition: string): Pick<Change, 'waiting' | 'breaks'> {
  const required = /\bnot null\b/.test(definition)
  const constant = /\bdefault (?:'[^']*'|[\w.-]+)(?:::\w+)?(?: |$)(?!\()/.test(definition)
  if (required && !constant) return { waiting: 'table', breaks: 'they write rows without a value for it' }
  if (/\bdefault\b/.test(definition) && !constant) return { waiting: 'table' }
  if (/\b(serial|bigserial|generated|unique|primary key|check)\b/.test(definition)) return { waiting: 'table' }
  return { waiting: 'brief' }
}

/** The other actions of `alter table`, by how they begin. */
const actions: [RegExp, (table: string, name: string) => Action][] = [
  [
    /^drop column (?:if exists )?"?(\w+)"?/,
    (table, name) => ({ does: `drops the column ${name} of ${table}`, waiting: 'brief', breaks: 'they use the column' })
  ],
  [
    /^drop constraint (?:if exists )?"?(\w+)"?/,
    (table, name) => ({ does: `drops the constraint ${name} of ${table}`, waiting: 'brief' })
  ],
  [
    /^add constraint "?(\w+)"? .*not valid$/,
    (table, name) => ({ does: `adds the constraint ${name} to ${table}`, waiting: 'brief', breaks: stricter })
  ],
  [
    /^add constraint "?(\w+)"?/,
    (table, name) => ({ does: `adds the constraint ${name} to ${table}`, waiting: 'table', breaks: stricter })
  ],
  [
    /^validate constraint "?(\w+)"?/,
    (table, name) => ({ does: `checks the constraint ${name} of ${table}`, waiting: 'none' })
  ],
  [
    /^alter column "?(\w+)"? (?:drop not null|set default|set statistics|set storage)/,
    (table, name) => ({ does: `alters the column ${name} of ${table}`, waiting: 'brief' })
  ],
  [
    /^alter column "?(\w+)"? set not null/,
    (table, name) => ({ does: `demands ${name} of ${table}`, waiting: 'table', breaks: stricter })
  ],
  [
    /^alter column "?(\w+)"? drop default/,
    (table, name) => ({ does: `drops the default of ${name} of ${table}`, waiting: 'brief', breaks: stricter })
  ],
  [
    /^alter column "?(\w+)"? (?:set data )?type/,
    (table, name) => ({
      does: `changes the type of ${name} of ${table}`,
      waiting: 'table',
      breaks: 'they expect the old type'
    })
  ],
  [
    /^rename (?:column |constraint )?(.*)$/,
    (table, name) => ({ does: `renames ${name} of ${table}`, waiting: 'brief', breaks: 'they use the old name' })
  ],
  [/^(?:re)?set \((\w+)/, (table, name) => ({ does: `sets ${name} of ${table}`, waiting: 'brief' })]
]
const stricter = 'they may write rows that it refuses'

/** Splits at commas outside parentheses. */
function splitActions(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of text) {
    if (letter === '(') depth += 1
    if (letter === ')') depth -= 1
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map((part) => part.trim())
}
