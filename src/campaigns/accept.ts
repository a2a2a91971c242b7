import { createCoalescer, roughBytes } from '../platform/coalesce.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { claimKey, type IdempotencyKey, settleKey } from '../platform/idempotency.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { add, addMany } from '../platform/jobs/jobs.ts'
import type { Metrics } from '../platform/metrics.ts'
import { inParts } from '../platform/parts.ts'
import { factsOf } from './store.ts'
import { checkCampaignId, readTriggerRequest } from './trigger-request.ts'
import { insertTriggers, type NewTrigger } from './trigger-store.ts'

export interface Wake {
  projectId: ProjectId
  triggerId: string
}

/** Triggers that were accepted together begin together. */
export interface Begin {
  projectId: ProjectId
  triggerIds: string[]
}
export const beginJobName = 'campaigns.begin'
const togetherAtMost = 50

/** The job that looks after a trigger; by name, because what it does is defined further on. */
export const expandJobName = 'campaigns.expand'

/** Wakes whoever works on a trigger. Safe to say again and again: one such job waits at most. */
export const wake = (db: Db, { projectId, triggerId }: Wake) =>
  add<Wake>(db, expandJobName, { projectId, triggerId }, { projectId, key: triggerId })

export const wakeAll = (db: Db, projectId: ProjectId, triggerIds: string[]) =>
  addMany<Wake>(
    db,
    expandJobName,
    triggerIds.map((id) => ({ payload: { projectId, triggerId: id }, projectId, key: id }))
  )

/** What has more targets is expanded in slices, by itself. */
export const smallTargets = 20

/** The default audience is known to the worker. */
const mayBeSmall = ({ audience }: NewTrigger) =>
  audience === null || ('targets' in audience && audience.targets.length <= smallTargets)

export interface Accepted {
  trigger_id: string
}

export type Accept = ReturnType<typeof createAccept>

/** Writes triggers and the jobs that wake the workers, in one transaction, and does nothing else (contract 4.4, rule 7). */
export function createAccept({
  pool,
  metrics,
  idempotencyHours
}: {
  pool: Pool
  metrics: Metrics
  idempotencyHours: number
}) {
  const writes = createCoalescer<NewTrigger, boolean>(async (projectId, batch) => {
    metrics.coalesced('triggers', batch.length)
    const written = await pool.transaction((tx) => writeTogether(tx, projectId, batch))
    return batch.map(({ id }) => written.has(id))
  }, roughBytes)

  async function writeTogether(tx: Db, projectId: ProjectId, batch: NewTrigger[]): Promise<Set<string>> {
    const written = await insertTriggers(tx, projectId, batch, new Date())
    const accepted = batch.filter(({ id }) => written.has(id))
    const small = inParts(accepted.filter(mayBeSmall), togetherAtMost).map((part) => ({
      payload: { projectId, triggerIds: part.map(({ id }) => id) },
      projectId
    }))
    await addMany<Begin>(tx, beginJobName, small)
    const large = accepted.filter((trigger) => !mayBeSmall(trigger))
    await wakeAll(
      tx,
      projectId,
      large.map(({ id }) => id)
    )
    return written
  }

  async function refusal(db: Db, projectId: ProjectId, campaignId: string): Promise<Refusal> {
    const facts = await factsOf(db, projectId, campaignId)
    if (!facts) return new Refusal('campaign_not_found', 'There is no campaign of this id.')
    if (facts.type !== 'api_triggered')
      return new Refusal('campaign_not_api_triggered', `The campaign is ${facts.type}, not api_triggered.`)
    return new Refusal('campaign_not_active', `The campaign is ${facts.status}, not active.`)
  }

  /** The key, the trigger and the answer are one transaction: a repeat finds all of them or none. */
  const underKey = (projectId: ProjectId, trigger: NewTrigger, key: IdempotencyKey) =>
    pool.transaction(async (tx) => {
      const claim = await claimKey<Accepted, Accepted>(tx, projectId, key, { trigger_id: trigger.id }, idempotencyHours)
      if (claim.state === 'answered') {
        // Its job may have been lost with a database that came back from a backup.
        await wake(tx, { projectId, triggerId: claim.answer.trigger_id })
        return { answer: claim.answer, replayed: true }
      }
      if (claim.state === 'running') throw new Refusal('idempotency_key_in_use', 'Idempotency key is in use')
      if (claim.state === 'other')
        throw new Refusal('idempotency_key_reused', 'Idempotency key was used with another body')
      const written = await writeTogether(tx, projectId, [trigger])
      if (!written.has(trigger.id)) throw await refusal(tx, projectId, trigger.campaignId)
      const answer = { trigger_id: trigger.id }
      await settleKey(tx, projectId, key, answer)
      return { answer, replayed: false }
    })

  /** Contract 4.4. `replayed`: the key was known, and this is the first answer again. */
  return async (
    projectId: ProjectId,
    campaignId: unknown,
    body: unknown,
    key?: IdempotencyKey
  ): Promise<{ answer: Accepted; replayed: boolean }> => {
    const trigger = { id: newId(), campaignId: checkCampaignId(campaignId), ...readTriggerRequest(body) }
    if (key) return underKey(projectId, trigger, key)
    if (!(await writes.write(projectId, trigger.id, trigger))) throw await refusal(pool, projectId, trigger.campaignId)
    return { answer: { trigger_id: trigger.id }, replayed: false }
  }
}
