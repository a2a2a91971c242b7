import type { Db } from '../platform/db/db.ts'
import { joined, later, lockedProject, statement, texts } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { type MessageRow, openStates } from './message.ts'

export const columns = `trigger_id, device_id, message_id, push_id, user_id, campaign_id, place, state, due_at, not_after,
  content, collapse_id, priority, gateway, environment, activity_type, activity_id, attempts, retries, gateway_message_id,
  reason, reason_message, gateway_code, simulated, created_at, handed_at, settled_at, delivered_at, tapped_at, owner, variant, language, step`

/** The columns of a new message that differ from row to row, besides its content. */
const own = {
  trigger_id: 'uuid',
  device_id: 'text',
  message_id: 'uuid',
  push_id: 'uuid',
  user_id: 'uuid'
} as const
/** The columns that all messages of a batch have in common, or of which a batch has a few kinds. */
const shared = {
  collapse_id: 'text',
  campaign_id: 'text',
  place: 'int',
  state: 'text',
  due_at: 'timestamptz',
  not_after: 'timestamptz',
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
  owner: 'uuid',
  variant: 'text',
  language: 'text',
  step: 'text'
} as const
const ownNames = Object.keys(own) as (keyof typeof own)[]
const sharedNames = Object.keys(shared) as (keyof typeof shared)[]

/** An item without a device has an empty one. A message without a key of the caller replaces only itself on a phone. */
function expressionOf(name: keyof typeof own | keyof typeof shared): string {
  if (name === 'device_id') return `coalesce(m.device_id, '')`
  if (name === 'collapse_id') return 'coalesce(k.collapse_id, m.message_id::text)'
  return name in own ? `m.${name}` : `k.${name}`
}

/** Ids are lists of their own type: a plan may compare every user of a small project with them, and would split a text each time. */
const listOf = (name: keyof typeof own, parameter: `$${number}`) =>
  own[name] === 'uuid' ? `${parameter}::uuid[]` : texts(parameter)

// Users are locked in the order in which deletions lock them, so that a user who is being deleted costs one row and not the
// whole batch. With locks in a `with`, Citus would not send the statement to one shard as a whole.
const inserting = (ending: string) =>
  `insert into messages (project_id, content, ${[...ownNames, ...sharedNames].join(', ')})
   select p.project_id, m.content::jsonb, ${ownNames.map(expressionOf).join(', ')}, ${sharedNames.map(expressionOf).join(', ')}
     from ${lockedProject} p
    cross join unnest($2::int[], ${texts('$3')}, ${ownNames.map((name, index) => listOf(name, `$${index + 4}`)).join(', ')})
       as m(kind, content, ${ownNames.join(', ')})
     join json_to_recordset($9::json) as k(kind int, ${sharedNames.map((name) => `${name} ${shared[name]}`).join(', ')})
       on k.kind = m.kind
    where m.user_id is null or m.user_id in (
      select u.id from users u
       where u.project_id = $1 and u.id = any($8::uuid[]) order by u.id for key share) ${ending}`
// An earlier run may have written the rows: then they stay, and the next statement reads them.
const insert = statement('messages.insert', inserting('on conflict (project_id, trigger_id, device_id) do nothing'))
// PostgreSQL looks each row up before it inserts it if it has to ignore conflicts, and confirms it afterwards: 8 of 39 µs
// (docs/decisions/0068). Where rows are hardly ever there, a conflict fails the transaction instead.
const insertNew = statement('messages.insert_new', inserting(''))
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
// A message that a gateway has responded to belongs to the retry job, and no other run may take it.
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
// Claims only rows that still exist and that no process has settled or claimed since they were read: a claim changes
// due_at or the owner, and a user may have been deleted.
const claim = statement(
  'messages.hold',
  `update messages set state = 'handed', due_at = $4, handed_at = coalesce(messages.handed_at, $3), owner = $5
     from json_to_recordset($2::json) as g(trigger_id uuid, device_id text, due_at timestamptz, owner uuid)
    where messages.project_id = $1 and messages.trigger_id = g.trigger_id and messages.device_id = g.device_id
      and messages.state in ${openStates}
      and ((messages.due_at is not distinct from g.due_at and messages.owner is not distinct from g.owner)
           or (messages.owner = $5 and messages.due_at = any($6::timestamptz[])))
   returning messages.trigger_id, messages.device_id`
)
/**
 * The time at which a row is due after a batch released it: after the batch's wait for gateways and the end of the
 * claim.
 */
export const releasedAt = (row: string) =>
  later(`coalesce(${row}.handed_at, ${row}.created_at)`, `interval '35 seconds'`)
// A row of a batch or of a small trigger has no due_at and gets one. A run may still follow the message and has claimed it without a time.
// The time is therefore computed from the row itself: settling computes the same time to recognise the claim.
const release = statement(
  'messages.leave',
  `with open as (
     select trigger_id, device_id from messages
      where project_id = $1 and trigger_id = $2 and device_id = any($3::text[]) and due_at is null
        and state in ${openStates}
      order by device_id for update)
   update messages set due_at = ${releasedAt('messages')}
     from open
    where messages.project_id = $1 and messages.trigger_id = open.trigger_id and messages.device_id = open.device_id
   returning messages.device_id, messages.due_at`
)
// A row that another transaction holds is about to be settled or to get a time.
const releaseOf = statement(
  'messages.leave_of',
  `with open as (
     select trigger_id, device_id from messages
      where project_id = $1 and trigger_id = any($2::uuid[]) and due_at is null and state in ${openStates}
        for update skip locked)
   update messages set due_at = ${releasedAt('messages')}
     from open
    where messages.project_id = $1 and messages.trigger_id = open.trigger_id and messages.device_id = open.device_id`
)
const markUnknown = statement(
  'messages.give_up',
  `update messages set state = 'unknown'
    where project_id = $1 and trigger_id = $2 and device_id = any($3::text[]) and state = 'handed'
      and ($4::uuid[] is null or owner = any($4))`
)
/** Messages claimed at once. A constant of the text: for a parameter the planner expects a share of the table. */
const dueAtOnce = 500
// Excludes messages of other living processes ($4) and messages that a run of this process follows ($6). This process
// claims its own messages without a run: an error lost them. A message that is still `handed` was left by an owner that
// died.
const claimingDue = (more: string) => `
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
                              || ('{"crashed": ' || (coalesce((messages.retries ->> 'crashed')::int, 0) + 1)::text || '}')::jsonb
                         else messages.retries end
     from due
    where messages.project_id = $1 and messages.trigger_id = due.trigger_id and messages.device_id = due.device_id
   returning ${columns.replace(/\w+/g, 'messages.$&')}`
const claimDue = statement('messages.take_due', claimingDue(''))
const claimExpired = statement('messages.take_expired', claimingDue('and not_after < $2'))
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
const paused = statement('projects.paused', 'select paused_at from projects where project_id = $1')
const pausedProjects = statement(
  'messages.paused_projects',
  'select project_id from projects where deleted_at is null and paused_at is not null',
  { acrossProjects: 'messages that wait in paused projects expire' }
)
export const keyOf = ({ trigger_id, device_id }: Pick<MessageRow, 'trigger_id' | 'device_id'>): string =>
  `${trigger_id}${device_id}`

type Key = Pick<MessageRow, 'trigger_id' | 'device_id'>
type Claimed = Pick<MessageRow, 'trigger_id' | 'device_id' | 'due_at' | 'owner'>
const keysOf = (rows: Key[]) =>
  JSON.stringify(rows.map(({ trigger_id, device_id }) => ({ trigger_id, device_id })).sort(inKeyOrder))
const claimedOf = (rows: Claimed[]) =>
  JSON.stringify(
    rows.map(({ trigger_id, device_id, due_at, owner }) => ({ trigger_id, device_id, due_at, owner })).sort(inKeyOrder)
  )
/** The order in which all nodes lock rows, so that they do not deadlock. */
export const inKeyOrder = (one: Key, two: Key) =>
  one.trigger_id < two.trigger_id ? -1 : one.trigger_id > two.trigger_id ? 1 : one.device_id < two.device_id ? -1 : 1

/**
 * Returns the number of added rows: none for deleted users, or if the project is being erased. `areNew`: a row that exists
 * fails the transaction, as a lost race does.
 */
export async function insertMessages(
  db: Db,
  projectId: ProjectId,
  rows: MessageRow[],
  areNew: boolean
): Promise<number> {
  const sorted = rows.toSorted(inKeyOrder)
  const kinds: MessageRow[] = []
  const kindOf = sorted.map((row) => findKind(kinds, row))
  let content: [MessageRow['content'], string] | undefined
  const contents = sorted.map((row) => {
    // A text that names no recipient is one object for all.
    if (content?.[0] !== row.content) content = [row.content, JSON.stringify(row.content)]
    return content[1]
  })
  return db.run(areNew ? insertNew : insert, [
    projectId,
    kindOf,
    joined(contents),
    ...ownNames.map((name) => columnOf(name, sorted)),
    JSON.stringify(kinds.map(sharedOf))
  ])
}

/** Ids travel as a list in binary, which PostgreSQL reads in a tenth of the time. */
const columnOf = (name: keyof typeof own, rows: MessageRow[]) =>
  own[name] === 'uuid' ? rows.map((row) => row[name]) : joined(rows.map((row) => row[name] ?? ''))

const mostCompared = 16

/** The place of the row's kind in the list, to which it is added if it is new. */
function findKind(kinds: MessageRow[], row: MessageRow): number {
  for (let at = kinds.length - 1; at >= Math.max(0, kinds.length - mostCompared); at -= 1)
    if (isSameKind(row, kinds[at]!)) return at
  return kinds.push(row) - 1
}

const isSame = (one: unknown, two: unknown) =>
  one === two || (one instanceof Date && two instanceof Date && one.getTime() === two.getTime())

const collapsesAlone = ({ collapse_id, message_id }: MessageRow) => collapse_id === message_id

function isSameKind(one: MessageRow, two: MessageRow): boolean {
  for (const name of sharedNames)
    if (!isSame(one[name], two[name]) && !(name === 'collapse_id' && collapsesAlone(one) && collapsesAlone(two)))
      return false
  return true
}

/** Leaves null fields out. */
function sharedOf(row: MessageRow, kind: number): Record<string, unknown> {
  const said: Record<string, unknown> = { kind }
  for (const name of sharedNames) if (row[name] !== null) said[name] = row[name]
  if (collapsesAlone(row)) said.collapse_id = undefined
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

/** Claims rows and returns the keys of those that it could: the others are settled, claimed or deleted. */
export async function claimMessages(
  db: Db,
  projectId: ProjectId,
  rows: Claimed[],
  { at, until, owner, tried }: { at: Date; until: Date; owner: string; tried: Date[] }
) {
  return new Set((await db.query<Key>(claim, [projectId, claimedOf(rows), at, until, owner, tried])).map(keyOf))
}

/** Sets a time for open rows without one, at which a worker looks at them, and returns it by device. */
export async function releaseMessages(db: Db, projectId: ProjectId, triggerId: string, deviceIds: string[]) {
  const rows = await db.query<{ device_id: string; due_at: Date }>(release, [projectId, triggerId, deviceIds])
  return new Map(rows.map(({ device_id, due_at }) => [device_id, due_at]))
}

/** Sets a time for all open rows of these triggers without one. */
export const releaseMessagesOf = (db: Db, projectId: ProjectId, triggerIds: string[]): Promise<unknown> =>
  db.run(releaseOf, [projectId, triggerIds])

/**
 * For `handed` rows whose owner died: their responses are lost for good. `owners`: only rows that one of these still
 * owns.
 */
export const markMessagesUnknown = (
  db: Db,
  projectId: ProjectId,
  triggerId: string,
  deviceIds: string[],
  owners: string[] | null = null
) => db.run(markUnknown, [projectId, triggerId, deviceIds, owners])

export interface ClaimOfDue {
  at: Date
  until: Date
  /** This process. */
  owner: string
  /** Processes that are alive: they keep their rows. */
  living: Iterable<string>
  /** Keys of the messages that this process follows. */
  followed: string[]
}

/** Claims up to 500 rows that are due and owned by no living process. */
export const claimDueMessages = (db: Db, projectId: ProjectId, claim: ClaimOfDue) =>
  db.query<MessageRow>(claimDue, [projectId, ...valuesOf(claim)])

const valuesOf = ({ at, until, owner, living, followed }: ClaimOfDue) => [
  at,
  until,
  [...new Set([...living, owner])],
  owner,
  followed
]

/** Claims like `claimDueMessages`, but only rows whose time to live is over. */
export const claimExpiredMessages = (db: Db, projectId: ProjectId, claim: ClaimOfDue) =>
  db.query<MessageRow>(claimExpired, [projectId, ...valuesOf(claim)])

export const nextDueAt = async (db: Db, projectId: ProjectId): Promise<Date | null> =>
  (await db.one<{ due_at: Date | null }>(nextDue, [projectId]))?.due_at ?? null

export const findLeftBehind = (db: Db, before: Date) => db.query<{ project_id: ProjectId }>(leftBehind, [before])

export const findPaused = (db: Db) => db.query<{ project_id: ProjectId }>(pausedProjects)

export const pausedAt = async (db: Db, projectId: ProjectId): Promise<Date | null> =>
  (await db.one<{ paused_at: Date | null }>(paused, [projectId]))?.paused_at ?? null
