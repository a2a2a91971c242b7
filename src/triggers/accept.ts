import { checkCampaignId, factsOf, readTriggerRequest } from '../campaigns/campaigns.ts'
import { createCoalescer, roughBytes } from '../platform/coalesce.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { claimKey, type IdempotencyKey, settleKey } from '../platform/idempotency/idempotency.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { add, addMany } from '../platform/jobs/jobs.ts'
import type { Metrics } from '../platform/metrics.ts'
import { inParts } from '../platform/parts.ts'
import { insertTriggers, type NewTrigger } from './store.ts'

export interface Wake {
  projectId: ProjectId
  triggerId: string
}

/** Triggers that were accepted together begin together. */
export interface Begin {
  projectId: ProjectId
  triggerIds: string[]
}
/** By name and queue, because what it does is defined further on. */
export const beginJobRef = { name: 'campaigns.begin', queue: 'triggers' }
export const togetherAtMost = 50

/** The job that looks after a trigger. Its queue is not that of small triggers, which would wait behind it. */
export const expandJobRef = { name: 'campaigns.expand', queue: 'expansions' }

/** Wakes whoever works on a trigger. Safe to say again and again: one such job waits at most. */
export const wake = (db: Db, { projectId, triggerId }: Wake) =>
  add<Wake>(db, expandJobRef, { projectId, triggerId }, { projectId, key: triggerId })

export const wakeAll = (db: Db, projectId: ProjectId, triggerIds: string[]) =>
  addMany<Wake>(
    db,
    expandJobRef,
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
    const parts = inParts(batch.filter(mayBeSmall), togetherAtMost).map((part) => ({ jobId: newId(), part }))
    const jobOf = new Map(parts.flatMap(({ jobId, part }) => part.map(({ id }) => [id, jobId] as const)))
    const written = await insertTriggers(tx, projectId, batch, jobOf, new Date())
    const small = parts.flatMap(({ jobId, part }) => {
      const triggerIds = part.flatMap(({ id }) => (written.has(id) ? id : []))
      return triggerIds.length > 0 ? { id: jobId, payload: { projectId, triggerIds }, projectId } : []
    })
    await addMany<Begin>(tx, beginJobRef, small)
    const large = batch.filter((trigger) => written.has(trigger.id) && !mayBeSmall(trigger))
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
      if (claim.state === 'answered') return { answer: claim.answer, replayed: true }
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
