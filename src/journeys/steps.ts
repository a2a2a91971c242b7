import { CampaignErased } from '../campaigns/campaigns.ts'
import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/definition.ts'
import { dueAfter, keepMsOf, type Plan, type Plans } from './plan.ts'
import { addStepJobs, type DueStep, stepJobRef } from './step-job.ts'
import * as store from './store.ts'
import { acceptTogether, type TriggerMaker } from './together.ts'

/** Users of one transaction. A campaign with more users who are due together gets several triggers. */
const takenTogether = 5_000
/** Users that are read at once, because each may have 64 KiB of properties. */
const readTogether = 500
const mostBytes = 4 * 1024 * 1024

export interface StepsOptions {
  pool: Pool
  plans: Plans
  triggers: TriggerMaker
  paused: Messages['paused']
}

/** Sends the messages of users who are due together, and moves these users to their next step in the same transaction. */
export const stepJob = ({ pool, plans, triggers, paused }: StepsOptions) =>
  defineJob<DueStep>({
    ...stepJobRef,
    async run({ projectId, dueAt, ...rest }, { signal }) {
      const bucket = { ...rest, dueAt: new Date(dueAt) }
      for (;;) {
        signal.throwIfAborted()
        // The resume of the project adds this job again.
        if (await paused(projectId)) return
        const plan = await plans(pool, projectId, bucket.campaignId, bucket.version).catch((error: unknown) => {
          if (!(error instanceof CampaignErased)) throw error
        })
        if (!plan) return
        const send = () => pool.transaction((tx) => sendSome(tx, projectId, plan, bucket, triggers))
        if (!(await againIfRaced(send))) return
      }
    }
  })

/** Returns whether more users may be due. */
async function sendSome(
  tx: Db,
  projectId: ProjectId,
  plan: Plan,
  bucket: store.Bucket,
  triggers: TriggerMaker
): Promise<boolean> {
  const found = await take(tx, projectId, bucket)
  if (found.length === 0) return false
  const now = new Date()
  const taken = await postponeHeld(tx, projectId, plan, bucket, found, triggers, now)
  const canceled = await triggers.canceledAmong(tx, projectId, firstsOf(taken))
  const isCanceled = ({ first_trigger }: store.Journey) => first_trigger !== null && canceled.has(first_trigger)
  const [ended, journeys] = [taken.filter(isCanceled), taken.filter((one) => !isCanceled(one))]
  if (ended.length > 0) await stop(tx, projectId, plan, ended, 'trigger_canceled', now)
  const groups = Map.groupBy(journeys, ({ inherits, first_trigger }) => (inherits ? first_trigger : null))
  const shared = await triggers.propertiesOf(
    tx,
    projectId,
    [...groups.keys()].filter((id) => id !== null)
  )
  const sent: { triggerId: string; members: store.Journey[] }[] = []
  for (const [first, members] of groups) {
    const properties = first === null ? {} : shared.get(first)
    if (!properties) {
      await stop(tx, projectId, plan, members, 'trigger_deleted', now)
      continue
    }
    for (const { triggerId, recipients } of await acceptTogether(tx, projectId, triggers, {
      ...messageOf(plan, bucket, members),
      properties
    })) {
      const members = recipients.map(({ journey }) => journey)
      if (triggerId) sent.push({ triggerId, members })
      else await stop(tx, projectId, plan, members, 'campaign_not_active', now)
    }
  }
  for (const one of sent) await moveOn(tx, projectId, plan, bucket.step, one, now)
  if (sent.length > 0) await skipLeft(tx, projectId, bucket, sent[0]!.triggerId, triggers)
  return true
}

const firstsOf = (journeys: store.Journey[]): string[] => [
  ...new Set(journeys.flatMap(({ first_trigger }) => first_trigger ?? []))
]

/** Reads and locks users who are due, each once: further journeys of a user follow in the next transaction. */
async function take(tx: Db, projectId: ProjectId, bucket: store.Bucket): Promise<store.Journey[]> {
  const taken = new Map<string, store.Journey>()
  let bytes = 0
  let after = firstIdAt(0)
  while (taken.size < takenTogether && bytes < mostBytes) {
    const some = await store.lockDue(tx, projectId, bucket, after, readTogether)
    for (const journey of some) {
      if (taken.has(journey.user_id)) continue
      taken.set(journey.user_id, journey)
      bytes += JSON.stringify(journey.properties).length
    }
    if (some.length < readTogether) break
    after = some.at(-1)!.id
  }
  return [...taken.values()]
}

/** A step does not overtake the one before it, which quiet hours may hold still. Returns the users who are not concerned. */
async function postponeHeld(
  tx: Db,
  projectId: ProjectId,
  { campaignId, version, steps }: Plan,
  bucket: store.Bucket,
  found: store.Journey[],
  triggers: TriggerMaker,
  now: Date
): Promise<store.Journey[]> {
  const { step } = bucket
  if (step === 0) return found
  const userIds = found.map(({ user_id }) => user_id)
  const held = await triggers.heldUsers(tx, projectId, campaignId, userIds)
  const dueOf = ({ user_id }: store.Journey) => {
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

function messageOf(plan: Plan, { step }: store.Bucket, members: store.Journey[]) {
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

const eventOf = ({ source, entered_at }: store.Journey) =>
  source.kind === 'event' ? { event: source.event, event_id: source.event_id, at: entered_at } : {}

/** Moves users whose message was accepted to their next step, or to the end. */
async function moveOn(
  tx: Db,
  projectId: ProjectId,
  plan: Plan,
  step: number,
  { triggerId, members }: { triggerId: string; members: store.Journey[] },
  now: Date
): Promise<void> {
  const next = plan.steps[step + 1]
  // Decided once, at the first step: a user who logs in meanwhile has another id, and received that step already.
  const goesOn = ({ user_id }: store.Journey) => next !== undefined && !(step === 0 && plan.heldOut(user_id))
  const ids = (some: store.Journey[]) => some.map(({ id }) => id)
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

const stop = (tx: Db, projectId: ProjectId, plan: Plan, members: store.Journey[], reason: string, now: Date) =>
  store.endJourneys(
    tx,
    projectId,
    members.map(({ id }) => id),
    { state: 'stopped', reason, triggerId: null, keepMs: keepMsOf(plan) },
    now
  )

/** Counts users who left before this step on its trigger. */
async function skipLeft(
  tx: Db,
  projectId: ProjectId,
  bucket: store.Bucket,
  triggerId: string,
  triggers: TriggerMaker
): Promise<void> {
  const left = await store.takeLeft(tx, projectId, bucket)
  const skips = left.map((userId) => ({ triggerId, userId, reason: 'exited' }))
  if (skips.length > 0) await triggers.skipUsers(tx, projectId, skips)
}
