import { type ArrivedEvent, PrepareFirst } from '../events/events.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { createPatternMatcher, eventMatches, type PatternMatcher, patternPairs } from '../segments/segments.ts'
import { type Awaited, dueAfter, keepMsOf, type Plan, type Plans } from './plan.ts'
import { addStepJobs } from './step-job.ts'
import * as store from './store.ts'
import { acceptTogether, type Recipient, type TriggerMaker } from './together.ts'

type Known = store.Journey & { again?: number; isNew?: boolean }

/** An event that starts a campaign for its user. */
interface Match {
  plan: Plan
  event: ArrivedEvent
  journey: Known | undefined
}

/** The state of one batch of events: journeys are decided in memory, event by event, and then written together. */
interface Batch {
  now: Date
  patterns: PatternMatcher['matches']
  plans: Map<string, Plan>
  /** Journeys of each user that wait, including those that began in this batch. */
  waiting: Map<string, Known[]>
  /** The latest journey of a user in a campaign. */
  latest: Map<string, Known>
  begun: Known[]
  exited: { journey: Known; reason: string }[]
  /** Messages that are due at once. */
  matches: Match[]
  /** Users who could not enter again, by campaign. */
  refused: { plan: Plan; userId: string }[]
}

const versionKey = (campaignId: string, version: number) => JSON.stringify([campaignId, version])
const userKey = (campaignId: string, userId: string) => `${userId} ${campaignId}`

/** An event is late if a later one of the user may have been handled before it. */
const lateMs = 2_000

export function createArrivals({ pool, plans, triggers }: { pool: Pool; plans: Plans; triggers: TriggerMaker }) {
  const patterns = createPatternMatcher(pool)
  /** Handles events of one project, in the transaction that takes them from the queue. */
  return async (tx: Db, projectId: ProjectId, events: ArrivedEvent[]): Promise<void> => {
    const names = [...new Set(events.map(({ name }) => name))]
    const userIds = [...new Set(events.map(({ userId }) => userId))]
    const campaigns = await store.interestedCampaigns(tx, projectId, names)
    const starting = await Promise.all(campaigns.map(({ id, version }) => plans(tx, projectId, id, version)))
    const byEvent = Map.groupBy(starting, ({ trigger }) => trigger?.event)
    const limited = starting.filter((plan) => plan.againMs > 0 || isSequence(plan))
    if (limited.length > 0) await store.lockEntering(tx, projectId)
    const waiting = await store.lockWaiting(tx, projectId, userIds)
    if (starting.length === 0 && waiting.length === 0) return
    const latest =
      limited.length === 0
        ? []
        : await store.latestJourneys(
            tx,
            projectId,
            userIds,
            limited.map(({ campaignId }) => campaignId)
          )
    const open = await Promise.all(
      waiting.map(({ campaign_id, campaign_version }) => plans(tx, projectId, campaign_id, campaign_version))
    )
    const all = [...starting, ...open]
    const unknown = patterns.unknown(pairsOf(events, all))
    if (unknown.length > 0) throw new PrepareFirst(() => patterns.learn(unknown))
    const batch: Batch = {
      now: new Date(),
      patterns: patterns.matches,
      plans: new Map(all.map((plan) => [versionKey(plan.campaignId, plan.version), plan])),
      waiting: Map.groupBy<string, Known>(waiting, ({ user_id }) => user_id),
      latest: new Map(latest.map((one) => [userKey(one.campaign_id, one.user_id), one])),
      begun: [],
      exited: [],
      matches: [],
      refused: []
    }
    for (const event of events) {
      leave(batch, event)
      for (const plan of byEvent.get(event.name) ?? [])
        if (matches(batch, plan.trigger, event)) enter(batch, plan, event)
    }
    await leaveByLater(tx, projectId, batch)
    await write(tx, projectId, batch, triggers)
  }
}

export const isSequence = ({ steps }: Plan): boolean => steps.length > 1

/** Texts of events, with the patterns that campaigns compare them with. */
const pairsOf = (events: ArrivedEvent[], plans: Plan[]) =>
  plans
    .flatMap(({ trigger, unless, exit }) => [trigger, unless, exit])
    .filter((awaited) => awaited?.where.some(({ operator }) => operator === 'matches'))
    .flatMap((awaited) =>
      events.flatMap(({ name, properties }) =>
        name === awaited!.event ? patternPairs(awaited!.where, properties) : []
      )
    )

function matches(
  { now, patterns }: Batch,
  awaited: Awaited | undefined,
  { name, properties }: Pick<ArrivedEvent, 'name' | 'properties'>,
  trigger: Record<string, unknown> = {}
): boolean {
  return awaited?.event === name && eventMatches(awaited.where, { properties, now, trigger, patterns })
}

/** Ends the journeys of a user that this event ends. */
function leave(batch: Batch, event: Pick<ArrivedEvent, 'userId' | 'name' | 'at' | 'properties'>): void {
  for (const journey of batch.waiting.get(event.userId) ?? []) {
    if (journey.state !== 'waiting' || event.at < journey.entered_at) continue
    const plan = batch.plans.get(versionKey(journey.campaign_id, journey.campaign_version))!
    const { properties, step } = journey
    const leaves =
      (step === 0 && matches(batch, plan.unless, event, properties)) || matches(batch, plan.exit, event, properties)
    if (!leaves) continue
    journey.state = 'exited'
    journey.reason = event.name
    if (!journey.isNew) batch.exited.push({ journey, reason: event.name })
  }
}

/** Starts a campaign for the user of an event, if the user may enter. */
function enter(batch: Batch, plan: Plan, event: ArrivedEvent): void {
  const key = userKey(plan.campaignId, event.userId)
  const last = batch.latest.get(key)
  const underWay = isSequence(plan) && last?.state === 'waiting'
  if (last && (underWay || event.at.getTime() - last.entered_at.getTime() < plan.againMs)) {
    last.again = (last.again ?? 0) + 1
    batch.refused.push({ plan, userId: event.userId })
    return
  }
  const journey = journeyOf(batch.now, plan, event)
  if (journey) {
    batch.begun.push(journey)
    batch.latest.set(key, journey)
    batch.waiting.set(event.userId, [...(batch.waiting.get(event.userId) ?? []), journey])
  }
  if (plan.delayMs === 0) batch.matches.push({ plan, event, journey })
}

/** Undefined if nothing about this user has to be remembered: no delay, no further step, and every event counts. */
function journeyOf(now: Date, plan: Plan, { id, name, userId, at, properties }: ArrivedEvent): Known | undefined {
  const delayed = plan.delayMs > 0
  const goesOn = delayed || (isSequence(plan) && !plan.heldOut(userId))
  if (!goesOn && plan.againMs === 0) return undefined
  // The delay counts from the event, which may have arrived late.
  const due = delayed
    ? dueAfter(new Date(Math.max(at.getTime(), now.getTime() - plan.delayMs)), plan.delayMs)
    : dueAfter(now, plan.steps[1]?.waitMs ?? 0)
  return {
    id: newId(),
    campaign_id: plan.campaignId,
    campaign_version: plan.version,
    user_id: userId,
    source: { kind: 'event', event: name, event_id: id },
    properties: goesOn ? properties : {},
    inherits: false,
    sequence: isSequence(plan),
    entered_at: at,
    step: delayed ? 0 : 1,
    due_at: due,
    first_trigger: null,
    state: goesOn ? 'waiting' : 'completed',
    reason: null,
    isNew: true
  }
}

/** An event that arrived late may have been followed by the event that ends its journey. */
async function leaveByLater(tx: Db, projectId: ProjectId, batch: Batch): Promise<void> {
  const planOf = (journey: Known) => batch.plans.get(versionKey(journey.campaign_id, journey.campaign_version))!
  const late = batch.begun.filter((journey) => {
    const { unless, exit } = planOf(journey)
    return (unless || exit) && batch.now.getTime() - journey.entered_at.getTime() > lateMs
  })
  if (late.length === 0) return
  const names = late
    .flatMap((journey) => [planOf(journey).unless, planOf(journey).exit])
    .flatMap((one) => one?.event ?? [])
  const users = late.map(({ user_id, entered_at }) => ({ userId: user_id, since: entered_at }))
  const later = await store.eventsSince(tx, projectId, users, [...new Set(names)])
  for (const { user_id: userId, ...event } of later) leave(batch, { userId, ...event })
}

async function write(tx: Db, projectId: ProjectId, batch: Batch, triggers: TriggerMaker): Promise<void> {
  const { now, begun, exited, refused, matches } = batch
  const planOf = (journey: Known) => batch.plans.get(versionKey(journey.campaign_id, journey.campaign_version))!
  const keepUntil = (journey: Known) => {
    const keepMs = keepMsOf(planOf(journey))
    return keepMs === null ? null : new Date(now.getTime() + keepMs)
  }
  if (exited.length > 0)
    await store.exitJourneys(
      tx,
      projectId,
      exited.map(({ journey, reason }) => ({ id: journey.id, reason, keep_until: keepUntil(journey) })),
      now
    )
  const sent = await acceptMatches(tx, projectId, matches, triggers)
  for (const { journey, triggerId } of sent) {
    if (!journey) continue
    journey.first_trigger = triggerId ?? null
    // The campaign was paused or archived at this moment.
    if (triggerId === undefined) Object.assign(journey, { state: 'stopped', reason: 'campaign_not_active' })
  }
  const rows = begun.map(({ isNew: _, again: __, ...journey }) => ({ ...journey, keep_until: keepUntil(journey) }))
  await store.insertJourneys(tx, projectId, rows, now)
  const waiting = begun.filter(({ state }) => state === 'waiting')
  await addStepJobs(tx, projectId, waiting.map(bucketOf))
  const times = new Map([...batch.latest.values()].flatMap(({ id, again }) => (again ? [[id, again] as const] : [])))
  if (times.size > 0) await store.countAgain(tx, projectId, times, now)
  await skipRefused(tx, projectId, refused, sent, triggers)
}

export const bucketOf = (journey: store.Journey): store.Bucket => ({
  campaignId: journey.campaign_id,
  version: journey.campaign_version,
  step: journey.step,
  dueAt: journey.due_at
})

interface Sent {
  plan: Plan
  journey: Known | undefined
  triggerId: string | undefined
}

/** Makes the triggers of all events that start a campaign at once. */
async function acceptMatches(tx: Db, projectId: ProjectId, matches: Match[], triggers: TriggerMaker): Promise<Sent[]> {
  const sent: Sent[] = []
  for (const some of Map.groupBy(matches, ({ plan }) => plan).values()) {
    const { plan } = some[0]!
    const recipients = some.map(({ event, journey }): Recipient & { journey: Known | undefined } => ({
      userId: event.userId,
      properties: event.properties,
      source: { event: event.name, event_id: event.id, at: event.at },
      journey
    }))
    const step = plan.steps[0]!.id
    for (const { triggerId, recipients: reached } of await acceptTogether(tx, projectId, triggers, {
      plan,
      step,
      recipients,
      kind: 'event'
    }))
      sent.push(...reached.map(({ journey }) => ({ plan, journey, triggerId })))
  }
  return sent
}

/** Counts users who could not enter again on a trigger of the same campaign and moment, if there is one. */
async function skipRefused(
  tx: Db,
  projectId: ProjectId,
  refused: Batch['refused'],
  sent: Sent[],
  triggers: TriggerMaker
): Promise<void> {
  const triggerOf = new Map(sent.flatMap(({ plan, triggerId }) => (triggerId ? [[plan, triggerId] as const] : [])))
  const skips = refused.flatMap(({ plan, userId }) => {
    const triggerId = triggerOf.get(plan)
    return triggerId ? { triggerId, userId, reason: 'not_entered_again' } : []
  })
  if (skips.length > 0) await triggers.skipUsers(tx, projectId, skips)
}
