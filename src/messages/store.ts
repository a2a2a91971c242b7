import type { Db, Transaction } from '../platform/db/db.ts'
import { lostRace } from '../platform/db/races.ts'
import { heldProject, statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { type MessageRow, openStates } from './message.ts'

export const columns = `trigger_id, device_id, message_id, push_id, user_id, campaign_id, place, state, due_at, not_after,
  content, collapse_id, priority, gateway, environment, activity_type, activity_id, attempts, retries, gateway_message_id,
  reason, reason_message, gateway_code, simulated, created_at, handed_at, settled_at, delivered_at, tapped_at, owner`

/** What is written of a new message, with its types. */
const written = {
  trigger_id: 'uuid',
  device_id: 'text',
  message_id: 'uuid',
  push_id: 'uuid',
  user_id: 'uuid',
  campaign_id: 'text',
  place: 'int',
  state: 'text',
  due_at: 'timestamptz',
  not_after: 'timestamptz',
  content: 'jsonb',
  collapse_id: 'text',
  priority: 'text',
  gateway: 'text',
  environment: 'text',
  activity_type: 'text',
  activity_id: 'text',
  attempts: 'int',
  retries: 'jsonb',
  reason: 'text',
  simulated: 'boolean',
  created_at: 'timestamptz',
  handed_at: 'timestamptz',
  settled_at: 'timestamptz',
  owner: 'uuid'
}
type Written = keyof typeof written
const columnsWritten = Object.keys(written) as Written[]
const typed = Object.entries(written)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ')

// An earlier run may have written them: then its rows stand, and the statement after this one reads them. Users are held
// in the order in which removals lock them, so that one who is being deleted costs its own row and not the whole batch.
const insert = statement(
  'messages.insert',
  `${heldProject},
   held as materialized (
     select u.id from users u
      where u.project_id = $1 and u.id = any($3::uuid[]) order by u.id for key share),
   added as (
     insert into messages (project_id, ${Object.keys(written).join(', ')})
     select p.project_id, ${Object.keys(written)
       .map((name) => `coalesce(m.${name}, c.${name})`)
       .join(', ')}
       from project p
      cross join json_to_record($4::json) as c(${typed})
      cross join json_to_recordset($2::json) as m(${typed})
      where m.user_id is null or m.user_id in (select id from held)
     on conflict (project_id, trigger_id, device_id) do nothing
     returning 1)
   select count(*)::int as added from added`
)
const projectExists = statement(
  'messages.project_exists',
  'select 1 from projects where project_id = $1 and deleted_at is null'
)
const key = 'g(trigger_id uuid, device_id text)'
const findByKey = statement(
  'messages.find',
  `select ${columns.replace(/\w+/g, 'm.$&')} from messages m
     join json_to_recordset($2::json) as ${key} on m.trigger_id = g.trigger_id and m.device_id = g.device_id
    where m.project_id = $1`
)
// What a gateway has answered once is with the retry job, and nobody else may take it.
const unanswered = statement(
  'messages.unanswered',
  `select ${columns} from messages
    where project_id = $1 and trigger_id = any($2::uuid[]) and ($3::text[] is null or device_id = any($3))
      and attempts = 0 and state in ('queued', 'handed')`
)
const findByMessage = statement(
  'messages.by_message',
  `select ${columns} from messages where project_id = $1 and message_id = any($2::uuid[]) order by message_id, place`
)
// Only rows that no process has settled or taken meanwhile, which changes due_at or the owner, and that are still there: a
// user may have been deleted.
const hold = statement(
  'messages.hold',
  `update messages set state = 'handed', due_at = $4, handed_at = coalesce(messages.handed_at, $3), owner = $5
     from json_to_recordset($2::json) as g(trigger_id uuid, device_id text, due_at timestamptz, owner uuid)
    where messages.project_id = $1 and messages.trigger_id = g.trigger_id and messages.device_id = g.device_id
      and messages.state in ${openStates}
      and ((messages.due_at is not distinct from g.due_at and messages.owner is not distinct from g.owner)
           or (messages.owner = $5 and messages.due_at = any($6::timestamptz[])))
   returning messages.trigger_id, messages.device_id`
)
/** When what a chunk leaves is due: after the chunk began by as long as it waits for gateways and a row is held. */
const leftAt = (row: string) => `coalesce(${row}.handed_at, ${row}.created_at) + interval '35 seconds'`
// What was written without a time of its own, because a chunk attended to it, gets one. It follows from what is known of
// the row: the run that follows a message may be about to give it up, as it held it, and is not told of this time before.
const leave = statement(
  'messages.leave',
  `with open as (
     select trigger_id, device_id from messages
      where project_id = $1 and trigger_id = $2 and device_id = any($3::text[]) and due_at is null
        and state in ${openStates}
      order by device_id for update)
   update messages set due_at = ${leftAt('messages')}
     from open
    where messages.project_id = $1 and messages.trigger_id = open.trigger_id and messages.device_id = open.device_id
   returning messages.device_id, messages.due_at`
)
const giveUp = statement(
  'messages.give_up',
  `update messages set state = 'unknown'
    where project_id = $1 and trigger_id = $2 and device_id = any($3::text[]) and state = 'handed'
      and ($4::uuid[] is null or owner = any($4))`
)
/** Messages taken at once. A constant of the text: as a parameter the planner expects a share of the table. */
const dueAtOnce = 500
// Not what another living process owns ($4), nor what a run of this one has ($6). Of its own messages this process takes
// those that no run has: it lost them by an error. One that is still called handed was left by its owner.
const taking = (more: string) => `
   with due as (
     select trigger_id, device_id from messages
      where project_id = $1 and due_at <= $2 ${more}
        and (owner is null or owner = $5 or owner <> all($4::uuid[]))
        and (trigger_id::text || device_id) <> all($6::text[])
      order by due_at limit ${dueAtOnce} for update skip locked)
   update messages
      set state = 'handed', due_at = $3, owner = $5, handed_at = coalesce(messages.handed_at, $2),
          retries = case when messages.state = 'handed'
                         then messages.retries
                              || jsonb_build_object('crashed', coalesce((messages.retries ->> 'crashed')::int, 0) + 1)
                         else messages.retries end
     from due
    where messages.project_id = $1 and messages.trigger_id = due.trigger_id and messages.device_id = due.device_id
   returning ${columns.replace(/\w+/g, 'messages.$&')}`
const takeDue = statement('messages.take_due', taking(''))
const takeExpired = statement('messages.take_expired', taking('and not_after < $2'))
const nextDue = statement(
  'messages.next_due',
  'select min(due_at) as due_at from messages where project_id = $1 and due_at is not null'
)
const leftBehind = statement(
  'messages.left_behind',
  `select p.project_id from projects p
    where p.deleted_at is null and p.paused_at is null
      and exists (select 1 from messages m where m.project_id = p.project_id and m.due_at < $1)`,
  { acrossProjects: 'the sweeper finds whose messages a dead process left behind' }
)
const pausedProjects = statement(
  'messages.paused_projects',
  'select project_id from projects where deleted_at is null and paused_at is not null',
  { acrossProjects: 'messages that wait in paused projects expire' }
)
// In the order given, so that two batches cannot wait for each other. What is settled stays as it is. A message that is to be
// tried again is given up only as it was held: where the answer to this was lost and it is said once more, another run may
// have dispatched the message meanwhile. An end counts in any case. The insert finds its row: it is an update that can only
// go by the primary key. A join would be planned by statistics, and these do not know of a project that has just begun: it
// read all of its messages for each of them. Nothing is locked before, which PostgreSQL 18 does not survive
// (docs/decisions/0034), so a row may go away in between: then a new one is written, which `gone` tells from the others.
const gone = -1
const settling = (narrowed: string) => `
   insert into messages as kept (project_id, trigger_id, device_id, state, due_at, attempts, retries, gateway_message_id,
          reason, reason_message, gateway_code, settled_at, owner, handed_at, message_id, push_id, place, not_after, content,
          collapse_id, priority, simulated, created_at)
   select $1, g.trigger_id, g.device_id, g.to_state, g.due_at, g.attempts, coalesce(g.retries, '{}'),
          g.gateway_message_id, g.reason, g.reason_message, g.gateway_code,
          case when g.due_at is null then $3::timestamptz end, g.held_by, g.held_until, m.message_id, m.message_id, ${gone},
          $3, '{}', '', 'high', false, $3
     from json_to_recordset($2::json)
       as g(trigger_id uuid, device_id text, message_id uuid, user_id uuid, to_state text, due_at timestamptz,
            attempts int, retries jsonb, gateway_message_id text, reason text, reason_message text, gateway_code text,
            held_by uuid, held_until timestamptz)
    cross join lateral (
      select m.message_id from messages m
       where m.project_id = $1 and m.trigger_id = g.trigger_id and m.device_id = g.device_id ${narrowed}
         and m.state in ${openStates}
      offset 0) m
   on conflict (project_id, trigger_id, device_id) do update
      set state = excluded.state, due_at = excluded.due_at, attempts = excluded.attempts, retries = excluded.retries,
          gateway_message_id = excluded.gateway_message_id, reason = excluded.reason,
          reason_message = excluded.reason_message, gateway_code = excluded.gateway_code,
          settled_at = excluded.settled_at, owner = null
    where kept.state in ${openStates}
      and (excluded.due_at is null
           or (kept.owner is not distinct from excluded.owner
               and coalesce(kept.due_at, ${leftAt('kept')}) = coalesce(excluded.handed_at, ${leftAt('kept')})))
   returning kept.trigger_id, kept.device_id, kept.user_id, kept.place`
// With all of them given, each index that could be taken leads to the one row.
const settle = statement('messages.settle', settling('and m.message_id = g.message_id and m.user_id = g.user_id'))
const settleMoved = statement('messages.settle_moved', settling(''))

export const keyOf = ({ trigger_id, device_id }: Pick<MessageRow, 'trigger_id' | 'device_id'>): string =>
  `${trigger_id}${device_id}`

type Key = Pick<MessageRow, 'trigger_id' | 'device_id'>
type Held = Pick<MessageRow, 'trigger_id' | 'device_id' | 'due_at' | 'owner'>
const keysOf = (rows: Key[]) =>
  JSON.stringify(rows.map(({ trigger_id, device_id }) => ({ trigger_id, device_id })).sort(inKeyOrder))
const heldOf = (rows: Held[]) =>
  JSON.stringify(
    rows.map(({ trigger_id, device_id, due_at, owner }) => ({ trigger_id, device_id, due_at, owner })).sort(inKeyOrder)
  )
/** Every node locks rows in the same order. */
export const inKeyOrder = (one: Key, two: Key) =>
  one.trigger_id < two.trigger_id ? -1 : one.trigger_id > two.trigger_id ? 1 : one.device_id < two.device_id ? -1 : 1

/** How many were written now: none for users who are gone, or where the project is being erased. */
export async function insertMessages(db: Db, projectId: ProjectId, rows: MessageRow[]): Promise<number> {
  const sorted = rows.toSorted(inKeyOrder)
  const [first] = sorted
  if (!first) return 0
  // A user is named in each row: the statement looks for those who are held.
  const shared = columnsWritten.filter(
    (name) => name !== 'user_id' && sorted.every((row) => isSame(row[name], first[name]))
  )
  const common = JSON.stringify(picked(first, shared))
  const own = columnsWritten.filter((name) => !shared.includes(name))
  const each = JSON.stringify(sorted.map((row) => picked(row, own)))
  const userIds = [...new Set(rows.flatMap(({ user_id }) => user_id ?? []))]
  const [row] = await db.query<{ added: number }>(insert, [projectId, each, userIds, common])
  return row!.added
}

const isSame = (one: unknown, two: unknown) =>
  one === two || (one instanceof Date && two instanceof Date && one.getTime() === two.getTime())

/** Only what is not null: that need not be said. */
function picked(row: MessageRow, names: Written[]): Partial<MessageRow> {
  const said: Record<string, unknown> = {}
  for (const name of names) if (row[name] !== null) said[name] = row[name]
  return said
}

export const isProject = async (db: Db, projectId: ProjectId): Promise<boolean> =>
  (await db.one(projectExists, [projectId])) !== undefined

export const findMessages = (db: Db, projectId: ProjectId, keys: Key[]) =>
  db.query<MessageRow>(findByKey, [projectId, keysOf(keys)])

export const findUnanswered = (db: Db, projectId: ProjectId, triggerIds: string[], deviceIds?: string[]) =>
  db.query<MessageRow>(unanswered, [projectId, triggerIds, deviceIds ?? null])

export const findByMessageId = (db: Db, projectId: ProjectId, messageIds: string[]) =>
  db.query<MessageRow>(findByMessage, [projectId, messageIds])

/** Marks as handed, and answers the keys of those that may be: the others are settled, taken or gone. */
export async function holdMessages(
  db: Db,
  projectId: ProjectId,
  rows: Held[],
  { at, until, owner, tried }: { at: Date; until: Date; owner: string; tried: Date[] }
) {
  return new Set((await db.query<Key>(hold, [projectId, heldOf(rows), at, until, owner, tried])).map(keyOf))
}

/** Gives those that are open and have no time one at which a process looks at them, and returns it by device. */
export async function leaveMessages(db: Db, projectId: ProjectId, triggerId: string, deviceIds: string[]) {
  const rows = await db.query<{ device_id: string; due_at: Date }>(leave, [projectId, triggerId, deviceIds])
  return new Map(rows.map(({ device_id, due_at }) => [device_id, due_at]))
}

/** Nobody knows what has become of those that were handed, and nobody will. `owners`: only where one of them has it still. */
export const giveUpMessages = (
  db: Db,
  projectId: ProjectId,
  triggerId: string,
  deviceIds: string[],
  owners: string[] | null = null
) => db.run(giveUp, [projectId, triggerId, deviceIds, owners])

export interface Taking {
  at: Date
  until: Date
  /** This process. */
  owner: string
  /** Processes that live: what they own is theirs. */
  living: Iterable<string>
  /** Keys of the messages that this process follows. */
  followed: string[]
}

/** Claims a window of what is due and owned by no living process. */
export const takeDueMessages = (db: Db, projectId: ProjectId, taking: Taking) =>
  db.query<MessageRow>(takeDue, [projectId, ...valuesOf(taking)])

const valuesOf = ({ at, until, owner, living, followed }: Taking) => [
  at,
  until,
  [...new Set([...living, owner])],
  owner,
  followed
]

/** Of those only what nobody wants any more. */
export const takeExpiredMessages = (db: Db, projectId: ProjectId, taking: Taking) =>
  db.query<MessageRow>(takeExpired, [projectId, ...valuesOf(taking)])

export const nextDueAt = async (db: Db, projectId: ProjectId): Promise<Date | null> =>
  (await db.one<{ due_at: Date | null }>(nextDue, [projectId]))?.due_at ?? null

export const findLeftBehind = (db: Db, before: Date) => db.query<{ project_id: ProjectId }>(leftBehind, [before])

export const findPaused = (db: Db) => db.query<{ project_id: ProjectId }>(pausedProjects)

export type Settlement = Pick<
  MessageRow,
  | 'trigger_id'
  | 'device_id'
  | 'message_id'
  | 'campaign_id'
  | 'user_id'
  | 'state'
  | 'due_at'
  | 'attempts'
  | 'retries'
  | 'gateway_message_id'
  | 'reason'
  | 'reason_message'
  | 'gateway_code'
> & {
  /** The owner and the time that the row had when it was held. */
  held: Pick<MessageRow, 'owner' | 'due_at'>
}

/** Records outcomes, and answers those that were not settled before, each with whom it is of now. */
export async function settleMessages(tx: Transaction, projectId: ProjectId, settlements: Settlement[], at: Date) {
  const ask = async (text: typeof settle, some: Settlement[]) => {
    const sorted = some.toSorted(inKeyOrder)
    const rows = await tx.query<Pick<MessageRow, 'trigger_id' | 'device_id' | 'user_id' | 'place'>>(text, [
      projectId,
      JSON.stringify(sorted.map(brief)),
      at
    ])
    // The caller's transaction takes back what was written, and is done again.
    if (rows.some(({ place }) => place === gone))
      throw lostRace('A message was removed while its outcome was recorded.')
    const byKey = new Map(sorted.map((one) => [keyOf(one), one]))
    return rows.map((row) => {
      const one = byKey.get(keyOf(row))!
      return one.user_id === row.user_id ? one : { ...one, user_id: row.user_id }
    })
  }
  const done = await ask(settle, settlements)
  if (done.length === settlements.length) return done
  // Settled before, gone with their user, or of another user by now.
  const found = new Set(done.map(keyOf))
  const missed = settlements.filter((one) => !found.has(keyOf(one)))
  return [...done, ...(await ask(settleMoved, missed))]
}

/** Words of a gateway, without what the database refuses: an outcome that is not recorded would be sent again. */
const storable = (text: string | null) => text?.replaceAll('\0', '').toWellFormed()

/** What is null or empty need not be said, and most of it is. */
const brief = ({ trigger_id, device_id, message_id, user_id, state, attempts, retries, ...rest }: Settlement) => ({
  trigger_id,
  device_id,
  message_id,
  user_id,
  to_state: state,
  attempts,
  ...(Object.keys(retries).length > 0 && { retries }),
  due_at: rest.due_at ?? undefined,
  gateway_message_id: storable(rest.gateway_message_id),
  reason: rest.reason ?? undefined,
  reason_message: storable(rest.reason_message),
  gateway_code: storable(rest.gateway_code),
  ...(rest.due_at !== null && {
    held_by: rest.held.owner ?? undefined,
    held_until: rest.held.due_at ?? undefined
  })
})
