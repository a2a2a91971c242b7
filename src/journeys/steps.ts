import { CampaignErased } from '../campaigns/campaigns.ts'
import { prepared } from '../events/events.ts'
import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { defineJob, type JobContext } from '../platform/jobs/definition.ts'
import { orGiveUp } from '../platform/jobs/give-up.ts'
import type { PatternMatcher } from '../segments/segments.ts'
import { type ExitTools, withoutUnseenExits } from './exits.ts'
import type { Bucket, Journey } from './journey.ts'
import { dueAfter, keepMsOf, type Plan, type Plans } from './plan.ts'
import { addStepJobs, type DueStep, stepJobRef } from './step-job.ts'
import * as store from './steps-store.ts'
import { stop, stopDue } from './stop.ts'
import { acceptTogether, type TriggerMaker } from './together.ts'

/** Journeys of one transaction. A campaign with more users who are due together gets several triggers. */
const takenTogether = 5_000
/** Journeys that are read at once, because each may have 64 KiB of properties. */
const readTogether = 500
/** With so many journeys of one user no more are read, because each of them gets a trigger of its own. */
const mostOfUser = 500
const mostBytes = 4 * 1024 * 1024
/** The attempts take over half an hour, with the usual waits between them. */
const maxAttempts = 12

export interface StepsOptions {
  pool: Pool
  plans: Plans
  triggers: TriggerMaker
  patterns: PatternMatcher
  paused: Messages['paused']
}

/** Sends the messages of users who are due together, and moves these users to their next step in the same transaction. */
export function stepJob({ pool, plans, triggers, patterns, paused }: StepsOptions) {
  /** Undefined if the campaign is erased with its project. */
  const planOf = ({ projectId, campaignId, version }: DueStep) =>
    plans(pool, projectId, campaignId, version).catch((error: unknown) => {
      if (!(error instanceof CampaignErased)) throw error
    })

  async function run(due: DueStep, { signal }: JobContext): Promise<void> {
    const { projectId } = due
    for (;;) {
      signal.throwIfAborted()
      // The resume of the project adds this job again.
      if (await paused(projectId)) return
      const plan = await planOf(due)
      if (!plan) return
      const exits = { pool, patterns, decided: new Map() }
      const write = (tx: Db) => sendSome(tx, projectId, plan, bucketOf(due), triggers, exits)
      const send = () => prepared(() => pool.transaction(write))
      if (!(await againIfRaced(send))) return
    }
  }

  /** The sweeper would add the job again and again, and the users would wait for ever. */
  async function giveUp(due: DueStep): Promise<void> {
    const plan = await planOf(due)
    if (!plan) return
    const write = (work: (tx: Db) => Promise<number>) => pool.transaction(work)
    await stopDue(write, due.projectId, plan, bucketOf(due), 'internal_error')
  }

  return defineJob<DueStep>({ ...stepJobRef, maxAttempts, ...orGiveUp(run, giveUp) })
}

const bucketOf = ({ campaignId, version, step, dueAt }: DueStep): Bucket => ({
  campaignId,
  version,
  step,
  dueAt: new Date(dueAt)
})

/** Returns whether more users may be due. */
async function sendSome(
  tx: Db,
  projectId: ProjectId,
  plan: Plan,
  bucket: Bucket,
  triggers: TriggerMaker,
  exits: ExitTools
): Promise<boolean> {
  const found = await take(tx, projectId, bucket)
  if (found.length === 0) return false
  const now = new Date()
  const taken = await postponeHeld(tx, projectId, plan, bucket, found, triggers, now)
  const canceled = await triggers.canceledAmong(tx, projectId, firstsOf(taken))
  const isCanceled = ({ first_trigger }: Journey) => first_trigger !== null && canceled.has(first_trigger)
  const [ended, journeys] = [taken.filter(isCanceled), taken.filter((one) => !isCanceled(one))]
  if (ended.length > 0) await stop(tx, projectId, plan, ended, 'trigger_canceled', now)
  const propertiesOf = await triggers.propertiesOf(tx, projectId, firstsOf(journeys.filter(({ inherits }) => inherits)))
  const isLost = (one: Journey) => inheritedFrom(one) !== null && !propertiesOf.has(one.first_trigger!)
  const lost = journeys.filter(isLost)
  if (lost.length > 0) await stop(tx, projectId, plan, lost, 'trigger_deleted', now)
  const sharedBy = (first: string | null) => (first === null ? {} : propertiesOf.get(first)!)
  const due = {
    ...{ plan, step: bucket.step, now },
    members: journeys.filter((one) => !isLost(one)),
    sharedOf: (one: Journey) => sharedBy(inheritedFrom(one))
  }
  const remaining = await withoutUnseenExits(tx, projectId, due, exits)
  const sent: { triggerId: string; members: Journey[] }[] = []
  for (const [first, members] of Map.groupBy(remaining, inheritedFrom)) {
    const message = { ...messageOf(plan, bucket, members), properties: sharedBy(first) }
    for (const { triggerId, recipients } of await acceptTogether(tx, projectId, triggers, message)) {
      const members = recipients.map(({ journey }) => journey)
      if (triggerId) sent.push({ triggerId, members })
      else await stop(tx, projectId, plan, members, 'campaign_not_active', now)
    }
  }
  for (const one of sent) await moveOn(tx, projectId, plan, bucket.step, one, now)
  if (sent.length > 0) await skipLeft(tx, projectId, bucket, sent[0]!.triggerId, triggers)
  return true
}

/** The trigger whose properties belong to the journey too. */
const inheritedFrom = ({ inherits, first_trigger }: Journey): string | null => (inherits ? first_trigger : null)

const firstsOf = (journeys: Journey[]): string[] => [
  ...new Set(journeys.flatMap(({ first_trigger }) => first_trigger ?? []))
]

/** Reads and locks journeys that are due. A user may have several, by events with a delay. */
async function take(tx: Db, projectId: ProjectId, bucket: Bucket): Promise<Journey[]> {
  const taken: Journey[] = []
  const countOf = new Map<string, number>()
  let bytes = 0
  let ofUser = 0
  let after = firstIdAt(0)
  while (taken.length < takenTogether && bytes < mostBytes && ofUser < mostOfUser) {
    const some = await store.lockDue(tx, projectId, bucket, after, readTogether)
    for (const journey of some) {
      const count = (countOf.get(journey.user_id) ?? 0) + 1
      countOf.set(journey.user_id, count)
      ofUser = Math.max(ofUser, count)
      taken.push(journey)
      bytes += JSON.stringify(journey.properties).length
    }
    if (some.length < readTogether) break
    after = some.at(-1)!.id
  }
  return taken
}

/** A step does not overtake the one before it, which quiet hours may hold still. Returns the users who are not concerned. */
async function postponeHeld(
  tx: Db,
  projectId: ProjectId,
  { campaignId, version, steps }: Plan,
  bucket: Bucket,
  found: Journey[],
  triggers: TriggerMaker,
  now: Date
): Promise<Journey[]> {
  const { step } = bucket
  if (step === 0) return found
  const userIds = found.map(({ user_id }) => user_id)
  const held = await triggers.heldUsers(tx, projectId, campaignId, userIds)
  const dueOf = ({ user_id }: Journey) => {
    const until = held.get(user_id)?.getTime()
    return until && dueAfter(new Date(Math.max(until, now.getTime())), steps[step]!.waitMs).getTime()
  }
  const groups = Map.groupBy(found, dueOf)
  for (const [dueMs, journeys] of groups) {
    if (dueMs === undefined) continue
    const dueAt = new Date(dueMs)
    await store.postponeJourneys(
      tx,
      projectId,
      journeys.map(({ id }) => id),
      dueAt
    )
    await addStepJobs(tx, projectId, [{ campaignId, version, step, dueAt }])
    // No trigger is made now that could count those who left.
    if (!groups.has(undefined)) await store.postponeThoseWhoLeft(tx, projectId, bucket, dueAt)
  }
  return groups.get(undefined) ?? []
}

function messageOf(plan: Plan, { step }: Bucket, members: Journey[]) {
  const recipients = members.map((journey) => ({
    userId: journey.user_id,
    properties: journey.properties,
    source: eventOf(journey),
    journey
  }))
  const firsts = firstsOf(members)
  const of = firsts.length === 1 ? firsts[0]! : null
  return { plan, step: plan.steps[step]!.id, recipients, kind: step === 0 ? ('event' as const) : ('step' as const), of }
}

const eventOf = ({ source, entered_at }: Journey) =>
  source.kind === 'event' ? { event: source.event, event_id: source.event_id, at: entered_at } : {}

/** Moves users whose message was accepted to their next step, or to the end. */
async function moveOn(
  tx: Db,
  projectId: ProjectId,
  plan: Plan,
  step: number,
  { triggerId, members }: { triggerId: string; members: Journey[] },
  now: Date
): Promise<void> {
  const next = plan.steps[step + 1]
  // Decided once, at the first step: a user who logs in meanwhile has another id, and received that step already.
  const goesOn = ({ user_id }: Journey) => next !== undefined && !(step === 0 && plan.heldOut(user_id))
  const ids = (some: Journey[]) => some.map(({ id }) => id)
  const going = members.filter(goesOn)
  const done = members.filter((one) => !goesOn(one))
  if (done.length > 0) {
    const ended = { state: 'completed', reason: null, triggerId, keepMs: keepMsOf(plan) } as const
    await store.endJourneys(tx, projectId, ids(done), ended, now)
  }
  if (going.length === 0) return
  // From now on, and not from when the step was due: steps keep their distance also after a standstill.
  const dueAt = dueAfter(now, next!.waitMs)
  await store.advanceJourneys(tx, projectId, ids(going), { step: step + 1, dueAt, triggerId })
  const { campaignId, version } = plan
  await addStepJobs(tx, projectId, [{ campaignId, version, step: step + 1, dueAt }])
}

/** Counts users who left before this step on its trigger. */
async function skipLeft(
  tx: Db,
  projectId: ProjectId,
  bucket: Bucket,
  triggerId: string,
  triggers: TriggerMaker
): Promise<void> {
  const left = await store.takeLeft(tx, projectId, bucket)
  const skips = left.map((userId) => ({ triggerId, userId, reason: 'exited' }))
  if (skips.length > 0) await triggers.skipUsers(tx, projectId, skips)
}
