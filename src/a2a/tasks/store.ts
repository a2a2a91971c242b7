import type { DiscardScope } from '../../platform/backup/paused.ts'
import type { Db } from '../../platform/db/db.ts'
import { heldProject, joined, statement, texts } from '../../platform/db/statement.ts'
import { claimRows, type KeyedWork, keyColumns } from '../../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type DrawnUser, putUsers } from '../../users/users.ts'
import {
  type Asker,
  type DialectName,
  isTerminal,
  type Message,
  type Request,
  type Status,
  type Task,
  type TaskState
} from '../model.ts'

/**
 * The stored content repeats nothing: the status is the last entry of the log, messages have the ids of their task, and
 * an ended task has no open question. It keeps what a text meant, because its messages do not say that.
 */
interface Content extends Pick<Task, 'artifacts' | 'log'> {
  history: Omit<Message, 'contextId' | 'taskId'>[]
  request?: Request
  takeovers?: number
  by?: Asker | undefined
  cancelRequested?: true | undefined
}

interface Row {
  id: string
  context_id: string
  dialect: DialectName
  content: Content
  revision: number
}

/**
 * A task to write, and the time at which maintenance must look at it. A `working` task without a time keeps its stored
 * one.
 */
export interface TaskWrite {
  task: Task
  dueAt: Date | null
  attended: boolean
}

/** A task to write whose content is already serialized. */
export interface ReadyTask extends TaskWrite {
  content: string
  /** The user whose drawn id the content contains. */
  user: DrawnUser | undefined
}

const list = (parameter: `$${number}`) => `string_to_array(${parameter}, ',', '')`
const lists = `unnest($2::uuid[], ${list('$3')}, ${list('$4')}::timestamptz[], ${list('$5')}, ${texts('$6')},
                ${list('$7')}::integer[], ${list('$8')}::boolean[], ${list('$9')}::timestamptz[]),
         json_array_elements_text($10::json)`
const names = 'id, state, state_at, dialect, content, revision, attended, due_at, context_id'
const given = `rows from (${lists}) as t(${names})`
const into = 'a2a_tasks (project_id, id, context_id, state, state_at, dialect, content, revision, attended, due_at)'
const insert = statement(
  'a2a.insert_tasks',
  `${heldProject}
   insert into ${into}
   select p.project_id, t.id, t.context_id, t.state, t.state_at, t.dialect, t.content::json, t.revision, t.attended, t.due_at
     from project p cross join ${given}`
)
// Inserts the tasks whose keys are new, with their users. The id of an existing user replaces the id that was drawn.
const begin = statement(
  'a2a.begin_tasks',
  `${heldProject},
   begun as (${claimRows(14)} returning (work ->> 'taskId')::uuid as task_id),
   t as (
     select t.* from rows from (${lists}, unnest($11::uuid[], ${texts('$12')}), json_array_elements_text($13::json))
       as t(${names}, drawn, properties, of_user)
       join begun on begun.task_id = t.id),
   ${putUsers(
     `(select p.project_id, t.drawn as id, t.of_user as key, t.properties::jsonb as properties
         from project p cross join t where t.drawn is not null order by t.of_user collate "C")`,
     '$22'
   )},
   owned as (select t.*, u.id::text as user_id from t left join put u on u.project_user_id = t.of_user),
   told as (
     insert into ${into}
     select p.project_id, o.id, o.context_id, o.state, o.state_at, o.dialect,
            case when o.user_id is null then o.content else replace(o.content, o.drawn::text, o.user_id) end::json,
            o.revision, o.attended, o.due_at
       from project p cross join owned o)
   select (select string_agg(id || ' ' || coalesce(user_id, ''), ',') from owned) as begun from project`
)
// A write names the revision that it read: a task that was canceled meanwhile stays canceled.
const change = `update a2a_tasks
      set state = t.state, state_at = t.state_at, dialect = t.dialect, content = t.content::json, revision = t.revision,
          attended = a2a_tasks.attended or t.attended,
          due_at = coalesce(t.due_at, case when t.state = 'working' then a2a_tasks.due_at end)
     from ${given}
    where a2a_tasks.project_id = $1 and a2a_tasks.id = t.id and a2a_tasks.revision = t.revision - 1`
const changeQuiet = statement('a2a.change_quiet_tasks', `${change} and not a2a_tasks.attended returning a2a_tasks.id`)
const changeAny = statement('a2a.change_tasks', `${change} returning a2a_tasks.id, a2a_tasks.attended`)
const columns = 'id, context_id, dialect, content, revision'
const find = statement(
  'a2a.find_tasks',
  `select ${columns} from a2a_tasks where project_id = $1 and id = any($2::uuid[])`
)
const open = statement(
  'a2a.open_tasks',
  `select ${columns} from a2a_tasks
    where project_id = $1 and context_id = $2 and state in ('input-required', 'auth-required')
      and content #>> '{by,actor}' = $3
      and content #> '{request,approvalId}' is null and content #> '{request,asksWhich}' is null
    order by id desc limit $4`
)
// The condition on the time comes first: it spares reading the content of all tasks that ask something.
const asking = statement(
  'a2a.asking_tasks',
  `select ${columns} from a2a_tasks
    where project_id = $1 and state = 'input-required' and state_at >= $3
      and content #>> '{request,fields,confirmationId}' = $2
    order by id desc limit 1`
)
const revisions = statement(
  'a2a.task_revisions',
  'select id, revision from a2a_tasks where project_id = $1 and id = any($2::uuid[])'
)
const lock = statement('a2a.lock_task', `select ${columns} from a2a_tasks where project_id = $1 and id = $2 for update`)
const attend = statement('a2a.attend_task', 'update a2a_tasks set attended = true where project_id = $1 and id = $2')
const hold = statement(
  'a2a.hold_tasks',
  `update a2a_tasks set due_at = $3 where project_id = $1 and id = any($2::uuid[]) and due_at is not null
      and state in ('submitted', 'working')`
)
const due = statement(
  'a2a.due_tasks',
  `select project_id, id from a2a_tasks where due_at <= $1 order by due_at limit 500`,
  { acrossProjects: 'overdue tasks of all projects are found by their time' }
)
const stillDue = statement(
  'a2a.task_is_due',
  'select 1 from a2a_tasks where project_id = $1 and id = $2 and due_at <= $3'
)
const underWay = `project_id = $1 and state in ('submitted', 'working') and state_at < $2`
const listUnderWay = statement(
  'a2a.tasks_under_way',
  `select id from a2a_tasks where ${underWay} and id > $3 order by id limit 500`
)
const countUnderWay = statement('a2a.count_under_way', `select count(*)::int as count from a2a_tasks where ${underWay}`)
const sweep = statement(
  'a2a.sweep_tasks',
  `delete from a2a_tasks where project_id = $1 and id in (
     select id from a2a_tasks where project_id = $1 and id < $2 and due_at is null order by id limit 5000)`
)
const erase = statement(
  'a2a.erase_tasks',
  `delete from a2a_tasks where project_id = $1 and id in (
     select id from a2a_tasks where project_id = $1 order by id limit 5000)`
)

const meaningOf = ({ skill, fields, understood }: Request): { request?: Request } =>
  skill === undefined || understood === undefined ? {} : { request: { skill, fields, understood } }

export function contentOf({ artifacts, history, log, status, request, takeovers, by, cancelRequested }: Task): string {
  const content: Content = {
    artifacts,
    history: history.map((message) => ({ ...message, contextId: undefined, taskId: undefined })),
    log,
    by,
    ...(isTerminal(status.state) ? meaningOf(request) : { request, takeovers, cancelRequested })
  }
  return JSON.stringify(content)
}

function toTask({ id, context_id: contextId, dialect, content, revision }: Row): Task {
  const { artifacts, history, log, request = { fields: {} }, takeovers = 0, by, cancelRequested } = content
  const last = log.findLast((entry) => 'status' in entry) as { status: Status }
  return {
    id,
    contextId,
    status: last.status,
    artifacts,
    history: history.map((message) => ({ ...message, contextId, taskId: id })),
    log,
    request,
    dialect,
    revision,
    takeovers,
    ...(by && { by }),
    ...(cancelRequested && { cancelRequested })
  }
}

/** Lists column by column. Only the context is a text that callers choose. */
function columnsOf(writes: (TaskWrite & { content?: string })[]): (string | string[])[] {
  const column = (value: (write: TaskWrite) => string | number | boolean) => writes.map(value).join(',')
  return [
    writes.map(({ task }) => task.id),
    column(({ task }) => task.status.state),
    column(({ task }) => task.status.at),
    column(({ task }) => task.dialect),
    joined(writes.map(({ task, content }) => content ?? contentOf(task))),
    column(({ task }) => task.revision),
    column(({ attended }) => attended),
    column(({ dueAt }) => dueAt?.toISOString() ?? ''),
    JSON.stringify(writes.map(({ task }) => task.contextId))
  ]
}

/** False if the project is being erased. */
export const insertTasks = async (db: Db, projectId: ProjectId, writes: TaskWrite[]): Promise<boolean> =>
  (await db.run(insert, [projectId, ...columnsOf(writes)])) === writes.length

/**
 * Claims the keys that are new, writes their tasks and saves their users, in one statement. Returns the ids of those
 * tasks, each with the id of its user if it has one; undefined if the project is being erased. If a user would grow too
 * large, the statement fails and changes nothing.
 */
export async function beginTasks(
  db: Db,
  projectId: ProjectId,
  writes: ReadyTask[],
  keys: KeyedWork<{ taskId: string }>[],
  hours: number
): Promise<Map<string, string> | undefined> {
  const row = await db.one<{ begun: string | null }>(begin, [
    projectId,
    ...columnsOf(writes),
    writes.map(({ user }) => user?.drawn ?? null),
    joined(writes.map(({ user }) => user?.properties ?? '')),
    JSON.stringify(writes.map(({ user }) => user?.projectUserId ?? null)),
    ...keyColumns(keys, hours),
    new Date()
  ])
  const begun = row?.begun?.split(',').map((pair) => pair.split(' ') as [string, string])
  return row && new Map(begun)
}

/** The ids of the tasks that were written: those without a webhook or stream that did not change meanwhile. */
export async function changeQuietTasks(db: Db, projectId: ProjectId, writes: TaskWrite[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(changeQuiet, [projectId, ...columnsOf(writes)])
  return new Set(rows.map(({ id }) => id))
}

/** Undefined if it changed meanwhile. */
export const changeTask = (db: Db, projectId: ProjectId, write: TaskWrite) =>
  db.one<{ id: string; attended: boolean }>(changeAny, [projectId, ...columnsOf([write])])

export async function findTasks(db: Db, projectId: ProjectId, ids: string[]): Promise<Map<string, Task>> {
  return new Map((await db.query<Row>(find, [projectId, ids])).map((row) => [row.id, toTask(row)]))
}

/** The newest tasks of a context that wait for a message of this actor. */
export const findOpenTasks = async (db: Db, projectId: ProjectId, contextId: string, actor: string, limit: number) =>
  (await db.query<Row>(open, [projectId, contextId, actor, limit])).map(toTask)

/** The task whose open question has this confirmation. It has asked since the given time. */
export async function findAskingTask(db: Db, projectId: ProjectId, confirmationId: string, since: Date) {
  const row = await db.one<Row>(asking, [projectId, confirmationId, since])
  return row && toTask(row)
}

/** The revision of each task: little to read for watchers that wait for a change. */
export const findRevisions = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.query<{ id: string; revision: number }>(revisions, [projectId, ids])

export async function lockTask(db: Db, projectId: ProjectId, id: string): Promise<Task | undefined> {
  const row = await db.one<Row>(lock, [projectId, id])
  return row && toTask(row)
}

export const markAttended = (db: Db, projectId: ProjectId, id: string) => db.run(attend, [projectId, id])

export const renewLeases = (db: Db, projectId: ProjectId, ids: string[], until: Date) =>
  db.run(hold, [projectId, ids, until])

export interface TaskFilter {
  contextId: string | undefined
  state: TaskState | undefined
  changedAfter: Date | undefined
  /** Only the tasks that a key of this chain of rotations began. */
  chain?: string | undefined
}

/**
 * The statement names only the filters of the request: a plan for every combination would read all tasks to find a few.
 */
function matching(projectId: ProjectId, { contextId, state, changedAfter, chain }: TaskFilter) {
  const values: unknown[] = [projectId]
  const place = (value: unknown) => `$${values.push(value)}`
  const conditions = [
    'project_id = $1',
    ...(contextId === undefined ? [] : [`context_id = ${place(contextId)}`]),
    ...(state === undefined ? [] : [`state = ${place(state)}`]),
    ...(changedAfter === undefined ? [] : [`state_at >= ${place(changedAfter)}`]),
    ...(chain === undefined
      ? []
      : [`coalesce(content #>> '{by,originId}', content #>> '{by,keyId}') = ${place(chain)}`])
  ]
  return { values, place, where: conditions.join(' and ') }
}

/** Newest first, by creation: an id carries its time. `stored`: the bytes of the content, compressed. */
export async function listStored(
  db: Db,
  projectId: ProjectId,
  wanted: TaskFilter,
  { before, limit, offset }: { before: string | undefined; limit: number; offset: number }
): Promise<{ id: string; stored: number }[]> {
  const { values, place, where } = matching(projectId, wanted)
  const older = before === undefined ? '' : `and id < ${place(before)}`
  // PostgreSQL knows the stored size without reading the content.
  const text = `select id, pg_column_size(content) as stored from a2a_tasks
    where ${where} ${older} order by id desc limit ${place(limit)} offset ${place(offset)}`
  return db.adhoc(text, values)
}

export async function countTasks(db: Db, projectId: ProjectId, wanted: TaskFilter): Promise<number> {
  const { values, where } = matching(projectId, wanted)
  const [row] = await db.adhoc<{ total: number }>(`select count(*)::int as total from a2a_tasks where ${where}`, values)
  return row!.total
}

export const dueTasks = (db: Db, now: Date) => db.query<{ project_id: ProjectId; id: string }>(due, [now])

export const isDue = async (db: Db, projectId: ProjectId, id: string, now: Date): Promise<boolean> =>
  (await db.one(stillDue, [projectId, id, now])) !== undefined

/** Up to 500 tasks whose skill ran, or was about to run, when the backup was made. */
export const tasksUnderWay = async (
  db: Db,
  projectId: ProjectId,
  { restoredAt }: DiscardScope,
  after: string
): Promise<string[]> =>
  (await db.query<{ id: string }>(listUnderWay, [projectId, restoredAt, after])).map(({ id }) => id)

export const countTasksUnderWay = async (db: Db, projectId: ProjectId, { restoredAt }: DiscardScope) =>
  (await db.one<{ count: number }>(countUnderWay, [projectId, restoredAt]))!.count

/** Deletes one batch of tasks that ended and were created before the time of the given id. */
export const sweepTaskWindow = (db: Db, projectId: ProjectId, beforeId: string) => db.run(sweep, [projectId, beforeId])

export const eraseTaskWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
