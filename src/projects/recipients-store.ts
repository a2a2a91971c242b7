import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { counted, type Permit } from './policy.ts'

const within = `interval '24 hours'`
// Until an action has ended, its reserved recipients count; then the recipients that it reached.
const spent = 'coalesce(sum(case when ended_at is null then most else reached end), 0)::bigint'
const spentOf = `select ${spent} as spent from recipient_reservations
    where project_id = $1 and key_id = $2 and at > now() - ${within}`

// Locks the row: reservations of one key follow one another, and each sees those before it.
const lockBudget = statement(
  'recipients.lock',
  `insert into recipient_budgets (project_id, key_id) select p.project_id, $2 from projects p where p.project_id = $1
   on conflict (project_id, key_id) do update set key_id = excluded.key_id`
)
const used = statement('recipients.used', spentOf)
const reserve = statement(
  'recipients.reserve',
  `insert into recipient_reservations (project_id, id, key_id, most, reached, at, ended_at)
   select p.project_id, $3, $2, $5, case when $6 then $4::int else 0 end,
          coalesce($7::timestamptz, now()), case when $6 then now() end
     from projects p where p.project_id = $1
   on conflict (project_id, id) do nothing
   returning most`
)
const lockOne = statement(
  'recipients.lock_one',
  'select most, reached from recipient_reservations where project_id = $1 and id = $2 for update'
)
const reach = statement(
  'recipients.reach',
  'update recipient_reservations set reached = reached + $3 where project_id = $1 and id = $2'
)
const end = statement(
  'recipients.end',
  `update recipient_reservations set ended_at = $3
    where project_id = $1 and id = any($2::uuid[]) and ended_at is null`
)
const move = statement('recipients.move', 'update recipient_reservations set at = $3 where project_id = $1 and id = $2')
const sweep = statement(
  'recipients.sweep',
  `delete from recipient_reservations where project_id = $1 and ended_at < now() - ${within} and at < now() - ${within}`
)

/**
 * Recipients of a key and its rotations within the last 24 hours, including those that running actions may still reach.
 */
export const recipientsUsed = async (db: Db, projectId: ProjectId, keyId: string): Promise<number> =>
  Number((await db.one<{ spent: string }>(used, [projectId, keyId]))!.spent)

/**
 * Reserves the recipients of an action, in the transaction that accepts it: of two simultaneous actions, the second
 * waits for the first. Returns the number that it may reach. `ended`: it reaches exactly the counted recipients. `at`: it
 * waits until then. Its recipients count from now on until 24 hours after that, so that actions which are accepted on
 * several days for one time are limited like actions of one day.
 */
export async function reserveRecipients(
  tx: Db,
  projectId: ProjectId,
  id: string,
  { keyId, recipients, most, perDay }: Permit,
  { ended = false, at }: { ended?: boolean; at?: Date | undefined } = {}
): Promise<number> {
  let mayReach = most
  if (perDay !== null) {
    await tx.run(lockBudget, [projectId, keyId])
    const used = await recipientsUsed(tx, projectId, keyId)
    if (used + recipients > perDay) throw overspent(recipients, perDay, used)
    mayReach = Math.min(mayReach, perDay - used)
  }
  const row = await tx.one<{ most: number }>(reserve, [projectId, keyId, id, recipients, mayReach, ended, at ?? null])
  if (row) return row.most
  throw overspent(recipients, perDay ?? 0, await recipientsUsed(tx, projectId, keyId))
}

/** The refusal of an action that would exceed the recipients of a day. */
export function overspent(recipients: number, perDay: number, used: number): Refusal {
  const left = Math.max(0, perDay - used)
  const message = `The action would reach ${counted(recipients, 'user')}, and ${left} of the ${counted(perDay, 'recipient')} of 24 hours ${left === 1 ? 'is' : 'are'} left.`
  return new Refusal('policy_refused', message, [{ path: 'policy.max_recipients_per_day', message }])
}

/** Locks the reservation of a running action. Undefined if it no longer exists. */
export const lockReservation = (tx: Db, projectId: ProjectId, id: string) =>
  tx.one<{ most: number; reached: number }>(lockOne, [projectId, id])

export const countReached = (tx: Db, projectId: ProjectId, id: string, users: number) =>
  tx.run(reach, [projectId, id, users])

/** Releases the recipients that ended actions did not reach. */
export const endReservations = (tx: Db, projectId: ProjectId, ids: string[], at: Date) =>
  tx.run(end, [projectId, ids, at])

/** Moves the recipients of an action that waits to its new time. */
export const moveReservation = (tx: Db, projectId: ProjectId, id: string, at: Date) => tx.run(move, [projectId, id, at])

/** Deletes reservations that no longer count. */
export const sweepReservations = (db: Db, projectId: ProjectId) => db.run(sweep, [projectId])
