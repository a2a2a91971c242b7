import { readSendAt } from '../../campaigns/campaigns.ts'
import type { Pool } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import { refusing } from '../../platform/fields.ts'
import { type IdempotencyKey, settleKey } from '../../platform/idempotency/idempotency.ts'
import { type ProjectId, timeOfId } from '../../platform/ids.ts'
import { mostDaysAhead } from '../../platform/time.ts'
import { moveReservation } from '../../projects/projects.ts'
import { claimedAnswer } from '../accept.ts'
import { triggerResponse } from '../response.ts'
import { findTrigger } from '../store.ts'
import { releaseAt } from './release.ts'
import { moveScheduled } from './release-store.ts'

/** A trigger as a response shows it, after JSON: its times are texts. */
export type Moved = object

/**
 * Makes the function that moves scheduled triggers to another time. A past time starts the trigger now. Undefined: there is
 * no such trigger.
 */
export const createMove =
  ({ pool, idempotencyHours }: { pool: Pool; idempotencyHours: number }) =>
  (
    projectId: ProjectId,
    id: string,
    given: unknown,
    key?: IdempotencyKey
  ): Promise<{ answer: Moved; replayed: boolean } | undefined> => {
    const wanted = readSendAt(given)
    // Messages lie in the month of their trigger's id, which is kept for as long as this.
    if (wanted.getTime() > timeOfId(id) + mostDaysAhead * 86_400_000)
      throw refusing('invalid_trigger')('send_at', `must be at most ${mostDaysAhead} days after the first send_at`)
    return pool.transaction(async (tx) => {
      const known = key && (await claimedAnswer<Moved>(tx, projectId, key, { trigger_id: id }, idempotencyHours))
      if (known) return { answer: known, replayed: true }
      const now = new Date()
      const dueAt = wanted > now ? wanted : now
      const row = await moveScheduled(tx, projectId, id, dueAt)
      if (!row) {
        if (!(await findTrigger(tx, projectId, id))) return undefined
        throw new Refusal('conflict', 'The trigger has started or ended: only a scheduled one can be moved.')
      }
      if (row.limited) await moveReservation(tx, projectId, id, dueAt)
      await releaseAt(tx, projectId, [[id, dueAt]])
      const answer = triggerResponse((await findTrigger(tx, projectId, id))!)
      if (key) await settleKey(tx, projectId, key, answer)
      return { answer, replayed: false }
    })
  }
