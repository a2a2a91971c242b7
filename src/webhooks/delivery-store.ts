import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { type AttemptRow, attemptsKept, type CallRow, type CallState, columns } from './call-store.ts'

const attemptsOf = statement(
  'webhooks.attempts',
  `select id, at, duration_ms, status, error, headers, response from webhook_attempts
    where project_id = $1 and call_id = $2 order by id desc limit $3`
)
const findOne = statement(
  'webhooks.find_call',
  `select ${columns}, body, expires_at from webhook_calls where project_id = $1 and id = $2`
)
// Each filter has an index of its own; ids begin with their time.
const filtered = (more: string) =>
  `select ${columns} from webhook_calls
    where project_id = $1 and ($2::uuid is null or id < $2) and id >= $4 and id < $5${more} order by id desc limit $3`
const list = statement('webhooks.list_calls', filtered(''))
const listInState = statement('webhooks.list_calls_in_state', filtered(' and state = $6'))
const listOf = statement('webhooks.list_calls_of', filtered(' and source_id = $6'))
const listInStateOf = statement('webhooks.list_calls_in_state_of', filtered(' and state = $6 and source_id = $7'))
export const findCall = (db: Db, projectId: ProjectId, id: string) =>
  db.one<CallRow & { body: string; expires_at: Date }>(findOne, [projectId, id])

/** Newest first. */
export const listAttempts = (db: Db, projectId: ProjectId, callId: string) =>
  db.query<AttemptRow>(attemptsOf, [projectId, callId, 2 * attemptsKept])

export interface CallFilter {
  state?: CallState | undefined
  /** A webhook or a task. */
  sourceId?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export function listCalls(
  db: Db,
  projectId: ProjectId,
  { state, sourceId, from, to }: CallFilter,
  before: string | null,
  limit: number
) {
  const [first, last] = [firstIdAt(from?.getTime() ?? 0), to ? firstIdAt(to.getTime()) : lastId]
  const given = [projectId, before, limit, first, last]
  if (state && sourceId) return db.query<CallRow>(listInStateOf, [...given, state, sourceId])
  if (sourceId) return db.query<CallRow>(listOf, [...given, sourceId])
  return state ? db.query<CallRow>(listInState, [...given, state]) : db.query<CallRow>(list, given)
}
