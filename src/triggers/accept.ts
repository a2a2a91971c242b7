import { type Campaign, type CheckedTrigger, factsOf } from '../campaigns/campaigns.ts'
import { createCoalescer, roughBytes } from '../platform/coalesce.ts'
import type { Db, Pool, Transaction } from '../platform/db/db.ts'
import { together } from '../platform/db/together.ts'
import { Refusal } from '../platform/errors.ts'
import { claimKey, type IdempotencyKey, settleKey } from '../platform/idempotency/idempotency.ts'
import { idAt, newId, type ProjectId, timeOfId } from '../platform/ids.ts'
import { addMany, addReserved, type Reserved } from '../platform/jobs/jobs.ts'
import type { Metrics } from '../platform/metrics.ts'
import { inParts } from '../platform/parts.ts'
import { type Permit, reserveRecipients } from '../projects/projects.ts'
import { releaseAt } from './scheduled/release.ts'
import { insertTriggers, insertTriggersForHere, type NewTrigger, smallTargets } from './store.ts'
import { type Start, startedTogether, startJobRef, wakeAll } from './wake.ts'

export interface Accepted {
  trigger_id: string
}

/** A slot of the worker of this process for a job that it adds. Undefined: any worker takes the job in its turn. */
export type Reserve = (name: string) => Reserved | undefined

/** Whether a trigger goes to the start job. That job knows the default audience, and wakes triggers that are not small. */
const mayBeSmall = ({ audience }: NewTrigger) =>
  audience === null || ('targets' in audience && audience.targets.length <= smallTargets)

/** Accepts triggers: writes them with the jobs that wake the workers, and does nothing else (contract 4.4, rule 7). */
export function createAccept({
  pool,
  metrics,
  reserve,
  idempotencyHours
}: {
  pool: Pool
  metrics: Metrics
  reserve: Reserve
  idempotencyHours: number
}) {
  const writes = createCoalescer<NewTrigger, boolean>(
    async (projectId, triggers) => {
      metrics.coalesced('triggers', triggers.length)
      const written = await handing(pool, reserve, (tx, hand) => writeTriggers(tx, projectId, triggers, hand), true)
      return triggers.map(({ id }) => written.has(id))
    },
    roughBytes,
    { paced: pool.isDistributed || 'few' }
  )

  /** The keys, the trigger and the response are one transaction: a repeated request finds all of them or none. */
  const acceptOnce = (
    projectId: ProjectId,
    trigger: NewTrigger,
    keys: IdempotencyKey[],
    permit: Permit | 'repeat' | undefined
  ) =>
    handing(pool, reserve, async (tx, hand) => {
      const made = { trigger_id: trigger.id }
      const claimed: IdempotencyKey[] = []
      let known: Accepted | undefined
      for (const key of keys) {
        known = await claimedAnswer<Accepted>(tx, projectId, key, made, idempotencyHours)
        if (known) break
        claimed.push(key)
      }
      if (!known) {
        // The key was known a moment ago and has expired since: the next request is treated as new.
        if (permit === 'repeat') throw new Refusal('idempotency_key_in_use', 'Idempotency key is in use')
        await writeOne(tx, projectId, trigger, permit, hand)
      }
      const answer = known ?? made
      // A new key of a confirmation that was used before gets its response too, so that another body is refused.
      for (const key of claimed) await settleKey(tx, projectId, key, answer)
      return { answer, replayed: known !== undefined }
    })

  /**
   * Contract 4.4. `keys`: all requests with one of them lead to one trigger. The caller's own key comes before that of a
   * confirmation, so that two requests lock them in the same order. `replayed`: a key is known, and this is the first
   * response again. `permit`: the limits of a policy; `repeat`: only the first response may be returned.
   */
  return async (
    projectId: ProjectId,
    request: CheckedTrigger & { actor?: string },
    keys: IdempotencyKey[],
    permit?: Permit | 'repeat'
  ): Promise<{ answer: Accepted; replayed: boolean }> => {
    const trigger = newTrigger(request)
    if (keys.length > 0) return acceptOnce(projectId, trigger, keys, permit)
    if (permit && permit !== 'repeat') {
      await pool.transaction((tx) => writeOne(tx, projectId, trigger, permit))
      return { answer: { trigger_id: trigger.id }, replayed: false }
    }
    if (!(await writes.write(projectId, trigger.id, trigger))) throw await refusalOf(pool, projectId, trigger)
    return { answer: { trigger_id: trigger.id }, replayed: false }
  }
}

/** Claims a key for a call, or returns the response to an earlier one. */
export async function claimedAnswer<Answer>(
  tx: Db,
  projectId: ProjectId,
  key: IdempotencyKey,
  work: Accepted,
  hours: number
): Promise<Answer | undefined> {
  const claim = await claimKey<Accepted, Answer>(tx, projectId, key, work, hours)
  if (claim.state === 'answered') return claim.answer
  if (claim.state === 'running') throw new Refusal('idempotency_key_in_use', 'Idempotency key is in use')
  if (claim.state === 'other') throw new Refusal('idempotency_key_reused', 'Idempotency key was used with another body')
  return undefined
}

/** The id of a trigger that waits begins with the time of its sending, from which its messages are kept. */
function newTrigger({ sendAt, ...request }: CheckedTrigger & { actor?: string }): NewTrigger {
  if (!sendAt || sendAt.getTime() <= Date.now()) return { id: newId(), ...request }
  return { id: idAt(sendAt.getTime()), ...request, dueAt: sendAt }
}

/** Writes a trigger, with the recipients that its permit reserves: both or none. */
async function writeOne(
  tx: Db,
  projectId: ProjectId,
  trigger: NewTrigger,
  permit: Permit | undefined,
  hand?: Hand
): Promise<void> {
  const limit = permit && {
    mostRecipients: await reserveRecipients(tx, projectId, trigger.id, permit, { at: trigger.dueAt })
  }
  const written = await writeTriggers(tx, projectId, [{ ...trigger, ...limit }], hand)
  if (!written.has(trigger.id)) throw await refusalOf(tx, projectId, trigger)
}

/**
 * Accepts triggers that the service itself makes: occurrences, events, steps. Their ids are derived from what they stand
 * for (`timedIdOf`), so a trigger that exists is not written again. Returns the ids of those that were written; a campaign
 * that is not active accepts none.
 */
export async function acceptInternal(tx: Db, projectId: ProjectId, triggers: NewTrigger[]): Promise<Set<string>> {
  const timeless = triggers.find(({ id }) => Math.abs(timeOfId(id) - Date.now()) > mostDaysOff * 86_400_000)
  if (timeless) throw new Error(`the id of a trigger begins with its time (timedIdOf): ${timeless.id}`)
  return writeTriggers(tx, projectId, triggers, 'internal')
}

/** Messages lie in the month of their trigger's id, and a month far from now has no table. */
const mostDaysOff = 120

type Job = Parameters<Reserved['begin']>[0]

/** Takes a slot of this process for a job. Undefined: any worker takes the job. */
type Hand = () => Handed | undefined

interface Handed {
  slot: Reserved
  /** Notes the job that starts after the commit. */
  with(job: Job): void
  /** Commits behind the statements that were sent, if nothing follows them. */
  commit: (() => Promise<void>) | undefined
}

/** Runs a transaction, and starts the jobs that it added for slots of this process. `ends`: nothing follows the jobs. */
async function handing<Result>(
  pool: Pool,
  reserve: Reserve,
  work: (tx: Db, hand: Hand) => Promise<Result>,
  ends = false
): Promise<Result> {
  const held = new Map<Reserved, Job | undefined>()
  const handIn =
    (tx: Transaction): Hand =>
    () => {
      const slot = reserve(startJobRef.name)
      if (!slot) return undefined
      held.set(slot, undefined)
      return { slot, with: (job) => held.set(slot, job), commit: ends ? () => tx.commit() : undefined }
    }
  try {
    const result = await pool.transaction((tx) => work(tx, handIn(tx)))
    for (const [slot, job] of held) if (job) slot.begin(job)
    return result
  } catch (error) {
    for (const slot of held.keys()) held.set(slot, undefined)
    throw error
  } finally {
    for (const [slot, job] of held) if (!job) slot.drop()
  }
}

/** Writes triggers and their jobs. Returns the ids of the triggers whose campaign could be triggered. */
async function writeTriggers(
  tx: Db,
  projectId: ProjectId,
  triggers: NewTrigger[],
  hand?: Hand | 'internal'
): Promise<Set<string>> {
  const at = new Date()
  const isSoon = ({ dueAt }: NewTrigger) => !dueAt || dueAt <= at
  const small = triggers.filter((trigger) => isSoon(trigger) && mayBeSmall(trigger))
  const starts = inParts(small, startedTogether).map((some) => ({ jobId: newId(), some }))
  const jobOf = new Map(starts.flatMap(({ jobId, some }) => some.map(({ id }) => [id, jobId] as const)))
  const rows = triggers.map(({ dueAt, ...trigger }) => ({ ...trigger, ...(dueAt && dueAt > at && { dueAt }) }))
  const options = { jobOf, at, internal: hand === 'internal' }
  // Only a single job is handed over: with more, other workers have their share.
  const handed = starts.length === 1 && small.length === triggers.length && hand !== 'internal' ? hand?.() : undefined
  if (handed) {
    // Sent together. The job also names triggers that were not written, and does not find them.
    const job = { id: starts[0]!.jobId, projectId, payload: { projectId, triggerIds: small.map(({ id }) => id) } }
    const inserted = insertTriggersForHere(tx, projectId, rows, options)
    await together(
      inserted,
      addReserved<Start>(tx, startJobRef, handed.slot, job),
      handed.commit?.() ?? Promise.resolve()
    )
    const accepted = await inserted
    handed.with({ ...job, payload: { ...job.payload, accepted } })
    return new Set(accepted.map(({ id }) => id))
  }
  const written = await insertTriggers(tx, projectId, rows, options)
  const jobs = starts.flatMap(({ jobId, some }) => {
    const triggerIds = some.flatMap(({ id }) => (written.has(id) ? id : []))
    return triggerIds.length > 0 ? { id: jobId, payload: { projectId, triggerIds }, projectId } : []
  })
  await addMany<Start>(tx, startJobRef, jobs)
  const isLarge = (trigger: NewTrigger) => isSoon(trigger) && !mayBeSmall(trigger) && written.has(trigger.id)
  await wakeAll(
    tx,
    projectId,
    triggers.filter(isLarge).map(({ id }) => id)
  )
  const waiting = triggers.flatMap(({ id, dueAt }) =>
    dueAt && dueAt > at && written.has(id) ? [[id, dueAt] as const] : []
  )
  await releaseAt(tx, projectId, waiting)
  return written
}

async function refusalOf(db: Db, projectId: ProjectId, trigger: NewTrigger): Promise<Refusal> {
  const { campaignId, campaignVersion: wanted } = trigger
  const facts = await factsOf(db, projectId, campaignId)
  const runs = facts?.type === 'api_triggered' && facts.status === 'active'
  if (wanted !== undefined && runs && facts.version !== wanted)
    return new Refusal('conflict', `The campaign has version ${facts.version} now, not ${wanted}.`)
  return facts ? whyRefused(facts) : new Refusal('campaign_not_found', `There is no campaign "${campaignId}".`)
}

/** Why a campaign of this type and status cannot be triggered. */
export function whyRefused(facts: Pick<Campaign, 'type' | 'status'>): Refusal {
  if (facts.type !== 'api_triggered') {
    const starter = facts.type === 'scheduled' ? 'schedule' : 'event'
    const text = `The campaign is ${facts.type}, not api_triggered: only its ${starter} starts it.`
    return new Refusal('campaign_not_api_triggered', text)
  }
  return new Refusal('campaign_not_active', `The campaign is ${facts.status}, not active.`)
}
