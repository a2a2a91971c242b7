import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** The kinds of things whose table has a mark. */
export const marked = [
  'messages',
  'triggers',
  'users',
  'devices',
  'events',
  'tasks',
  'approvals',
  'webhooks',
  'simulator'
] as const

export interface Marks {
  /** A text for each kind, which changes with what the kind shows. */
  marks: Record<(typeof marked)[number], string>
  /** The newest entries of the audit log. */
  entries: { id: string; action: string }[]
}

const all = (rows: string) => `(select json_agg(m)::text from (${rows}) m)`
/**
 * Rows that lists and pages show: the newest ones, and those in states from which they may still change. Each part reads
 * the beginning of an index: a list of states in one part would not be sorted by id there.
 */
const newest = (rows: string, ...states: string[]) =>
  all(
    [rows, ...states.map((state) => `${rows} and state = '${state}'`)]
      .map((part) => `(select ${part} order by id desc limit 10)`)
      .join(' union all ')
  )

/**
 * One trip and a few rows of each table, all found by an index: nothing is written for it, and its cost does not grow with
 * the project. A message that reaches a gateway or a person changes the counters of its minute.
 */
const read = statement(
  'changes.marks',
  `select json_build_object(
     'messages', ${all(`select (select trigger_id from messages where project_id = $1 order by trigger_id desc limit 1) as newest,
         (select json_agg(c) from (select minute, sent, failed, delivered, tapped from message_minutes
           where project_id = $1 order by minute desc limit 2) c) as minutes`)},
     'triggers', ${newest(
       'id, state, outcome, targeted, sent, failed, skipped, delivered, tapped, converted, due_at from triggers where project_id = $1',
       'scheduled',
       'accepted',
       'running',
       'canceling'
     )},
     'users', ${all('select id from users where project_id = $1 order by id desc limit 1')},
     'devices', ${all('select created_at, id from devices where project_id = $1 order by created_at desc, id desc limit 1')},
     'events', ${all('select at, id from events where project_id = $1 order by at desc, id desc limit 1')},
     'tasks', ${newest('id, revision from a2a_tasks where project_id = $1', 'submitted', 'working', 'input-required', 'auth-required')},
     'approvals', ${newest('id, state from approvals where project_id = $1', 'pending')},
     'webhooks', ${newest('id, state, attempts, next_at from webhook_calls where project_id = $1', 'pending')},
     'simulator', ${all('select faults, last_number from simulators where project_id = $1')}
   ) as marks,
   (select coalesce(json_agg(a), '[]') from (
      select id, action from audit_log where project_id = $1 order by id desc limit 50) a) as entries`
)

/** What the things of a project look like now, in short texts that can be compared. */
export const readMarks = async (db: Db, projectId: ProjectId): Promise<Marks> =>
  (await db.one<Marks>(read, [projectId]))!
