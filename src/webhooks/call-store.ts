import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { firstIdAt, newId, type ProjectId } from '../platform/ids.ts'

export type CallState = 'pending' | 'delivered' | 'failed'

export interface NewCall {
  id: string
  lane: string
  sourceKind: string
  sourceId: string
  url: string
  headers: string | null
  body: string
  at: Date
  expiresAt: Date
}

/** The next call of a lane. */
export interface HeadRow {
  id: string
  source_kind: string
  source_id: string
  url: string
  headers: string | null
  body: string
  attempts: number
  next_at: Date
  expires_at: Date
}

export interface CallRow {
  id: string
  state: CallState
  source_kind: string
  source_id: string
  url: string
  attempts: number
  last_status: number | null
  last_error: string | null
  created_at: Date
  next_at: Date
  settled_at: Date | null
}

/** One request of a call, and the response to it. */
export interface AttemptRow {
  id: string
  at: Date
  duration_ms: number
  status: number | null
  error: string | null
  headers: Record<string, string>
  response: string | null
}

// Sorts after all waiting calls of the lane: ids of several nodes need not be in order, because their clocks differ.
const insert = statement(
  'webhooks.insert_call',
  `insert into webhook_calls (project_id, id, lane, position, state, source_kind, source_id, url, headers, body, attempts,
                              created_at, next_at, expires_at)
   select p.project_id, $2, $3,
          1 + coalesce((select max(c.position) from webhook_calls c
                         where c.project_id = $1 and c.lane = $3 and c.state = 'pending'), 0),
          'pending', $4, $5, $6, $7, $8, 0, $9, $9, $10
     from projects p where p.project_id = $1
   on conflict (project_id, id) do nothing`
)
const head = statement(
  'webhooks.head_of_lane',
  `select id, source_kind, source_id, url, headers, body, attempts, next_at, expires_at from webhook_calls
    where project_id = $1 and lane = $2 and state = 'pending' order by position, id limit 1`
)
// The attempt is stored with its effect on the call. Where no request was made there is none to store.
const attempted = `
   insert into webhook_attempts (project_id, call_id, id, at, duration_ms, status, error, headers, response)
   select project_id, id, $7::uuid, $8, $9, $4, $5, $10, $11 from changed where $7::uuid is not null`
const settle = statement(
  'webhooks.settle_call',
  `with changed as (
     update webhook_calls set state = $6, attempts = $3, last_status = $4, last_error = $5, settled_at = $12
      where project_id = $1 and id = $2 and state = 'pending'
     returning project_id, id)${attempted}`
)
const postpone = statement(
  'webhooks.postpone_call',
  `with changed as (
     update webhook_calls set attempts = $3, last_status = $4, last_error = $5, next_at = $6
      where project_id = $1 and id = $2 and state = 'pending'
     returning project_id, id)${attempted}`
)
/** The columns of a CallRow. */
export const columns =
  'id, state, source_kind, source_id, url, attempts, last_status, last_error, created_at, next_at, settled_at'
/** The url that the webhook of a call c has now. Calls to agents have none of their own. */
const urlNow = `coalesce((select w.url from webhooks w
                           where w.project_id = $1 and c.source_kind = 'outcome' and w.id::text = c.source_id), c.url)`
/** Calls to a webhook that was deleted are kept only to be read. */
const hasWebhook = `(c.source_kind <> 'outcome'
                     or exists (select 1 from webhooks w where w.project_id = $1 and w.id::text = c.source_id))`
const replay = statement(
  'webhooks.replay_call',
  `update webhook_calls c
      set state = 'pending', url = ${urlNow}, attempts = 0, next_at = $3, expires_at = $4, settled_at = null
    where c.project_id = $1 and c.id = $2 and ${hasWebhook}
   returning ${columns}, lane`
)
const replayFailed = statement(
  'webhooks.replay_failed_calls',
  `update webhook_calls c
      set state = 'pending', url = ${urlNow}, attempts = 0, next_at = $2, expires_at = $3, settled_at = null
    where c.project_id = $1 and c.state = 'failed' and c.id in (
     select c.id from webhook_calls c
      where c.project_id = $1 and c.state = 'failed' and c.id >= $4 and ($5::text is null or c.source_id = $5)
        and ${hasWebhook}
      order by c.id limit $6)
   returning lane`
)
const dropOldAttempts = statement(
  'webhooks.drop_old_attempts',
  `delete from webhook_attempts where project_id = $1 and call_id = $2 and id in (
     select id from webhook_attempts where project_id = $1 and call_id = $2 order by id desc offset $3)`
)
const redirect = statement(
  'webhooks.redirect_calls',
  `update webhook_calls set url = $3, next_at = $4 where project_id = $1 and source_id = $2 and state = 'pending'`
)
const dropOf = statement(
  'webhooks.drop_calls',
  `delete from webhook_calls where project_id = $1 and source_id = $2 and state = 'pending'`
)
const dropIn = statement(
  'webhooks.drop_lane',
  `delete from webhook_calls where project_id = $1 and lane = $2 and state = 'pending'`
)
const sweep = statement(
  'webhooks.sweep_calls',
  `delete from webhook_calls where project_id = $1 and id in (
     select id from webhook_calls where project_id = $1 and state = $2 and id < $3 order by id limit 5000)`
)
const erase = statement(
  'webhooks.erase_calls',
  `delete from webhook_calls where project_id = $1 and id in (
     select id from webhook_calls where project_id = $1 order by id limit 5000)`
)
const overdue = statement(
  'webhooks.overdue_lanes',
  `select distinct lane from webhook_calls where project_id = $1 and state = 'pending' and next_at < $2 limit 1000`
)

/** False if the id is known already, or the project was deleted. */
export const insertCall = async (db: Db, projectId: ProjectId, call: NewCall): Promise<boolean> => {
  const { id, lane, sourceKind, sourceId, url, headers, body, at, expiresAt } = call
  return (await db.run(insert, [projectId, id, lane, sourceKind, sourceId, url, headers, body, at, expiresAt])) > 0
}

export const headOf = (db: Db, projectId: ProjectId, lane: string) => db.one<HeadRow>(head, [projectId, lane])

/** The effect of an attempt on its call. */
export interface Attempt {
  attempts: number
  status: number | null
  error: string | null
  /** Absent if the call failed without a request. */
  made?: Pick<AttemptRow, 'at' | 'duration_ms' | 'headers' | 'response'> | undefined
}

const rowOf = ({ made }: Attempt) => [
  made ? newId() : null,
  made?.at ?? null,
  made?.duration_ms ?? null,
  made?.headers ?? null,
  made?.response ?? null
]

export const settleCall = (db: Db, projectId: ProjectId, id: string, state: CallState, attempt: Attempt) =>
  db.run(settle, [
    ...[projectId, id, attempt.attempts, attempt.status, attempt.error, state],
    ...[...rowOf(attempt), new Date()]
  ])

export const postponeCall = (db: Db, projectId: ProjectId, id: string, attempt: Attempt, nextAt: Date) =>
  db.run(postpone, [projectId, id, attempt.attempts, attempt.status, attempt.error, nextAt, ...rowOf(attempt)])

/** Attempts of one series: the schedule has 16 in a day, and receivers can ask for a few more. */
export const attemptsKept = 50

/** Starts the attempts again, at the old position in the lane. The newest earlier attempts stay. */
export async function replayCall(db: Db, projectId: ProjectId, id: string, at: Date, expiresAt: Date) {
  await db.run(dropOldAttempts, [projectId, id, attemptsKept])
  return db.one<CallRow & { lane: string }>(replay, [projectId, id, at, expiresAt])
}

export interface FailedCalls {
  since: Date
  sourceId: string | undefined
  limit: number
}

/** Starts the attempts of failed calls again, oldest first, and returns the lane of each. */
export const replayFailedCalls = async (
  db: Db,
  projectId: ProjectId,
  { since, sourceId, limit }: FailedCalls,
  at: Date,
  expiresAt: Date
) =>
  (
    await db.query<{ lane: string }>(replayFailed, [
      ...[projectId, at, expiresAt, firstIdAt(since.getTime())],
      ...[sourceId ?? null, limit]
    ])
  ).map(({ lane }) => lane)

/** Sends the waiting calls of a webhook to another url, from now on: the pause was for the one before. */
export const redirectCalls = (db: Db, projectId: ProjectId, sourceId: string, url: string) =>
  db.run(redirect, [projectId, sourceId, url, new Date()])

export const dropLane = (db: Db, projectId: ProjectId, lane: string) => db.run(dropIn, [projectId, lane])
export const dropCallsOf = (db: Db, projectId: ProjectId, sourceId: string) => db.run(dropOf, [projectId, sourceId])

/** Deletes one batch of calls that are older than an id. */
export const sweepCalls = (db: Db, projectId: ProjectId, state: CallState, before: string) =>
  db.run(sweep, [projectId, state, before])

export const eraseCallWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])

export const overdueLanes = async (db: Db, projectId: ProjectId, before: Date) =>
  (await db.query<{ lane: string }>(overdue, [projectId, before])).map(({ lane }) => lane)
