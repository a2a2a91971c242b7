import { type ArrivedEvent, type Handling, PrepareFirst } from '../events/events.ts'
import type { Db } from '../platform/db/db.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { eventMatches, type PatternMatcher, patternPairs } from '../segments/segments.ts'
import { type Batch, type Known, versionKey, writeBatch } from './arrivals-writing.ts'
import * as store from './entering-store.ts'
import { eventsSince } from './leaving-store.ts'
import { type Awaited, dueAfter, gotNothing, isSequence, type Plan, type Plans } from './plan.ts'
import type { TriggerMaker } from './together.ts'

const userKey = (campaignId: string, userId: string) => `${userId} ${campaignId}`

/** An event is late if a later one of the user may have been handled before it. */
const lateMs = 2_000

export interface ArrivalsOptions {
  plans: Plans
  triggers: TriggerMaker
  patterns: PatternMatcher
}

export function createArrivals({ plans, triggers, patterns }: ArrivalsOptions) {
  /** The versions whose waiting journeys may matter: events of these names end them, or their users may not enter again. */
  async function openPlans(tx: Db, projectId: ProjectId, userIds: string[], names: string[], limited: Plan[]) {
    const versions = await store.versionsWaitedFor(tx, projectId, userIds)
    const all = await Promise.all(
      versions.map(({ campaign_id, campaign_version }) => plans(tx, projectId, campaign_id, campaign_version))
    )
    const restricted = new Set(limited.map(({ campaignId }) => campaignId))
    const ends = (awaited: Awaited | undefined) => awaited !== undefined && names.includes(awaited.event)
    return all.filter(({ campaignId, unless, exit }) => restricted.has(campaignId) || ends(unless) || ends(exit))
  }

  /** Handles events of one project, in the transaction that takes them from the queue. */
  return async (
    tx: Db,
    projectId: ProjectId,
    events: ArrivedEvent[],
    { starts }: Handling = { starts: true }
  ): Promise<void> => {
    const names = [...new Set(events.map(({ name }) => name))]
    const userIds = [...new Set(events.map(({ userId }) => userId))]
    const campaigns = await store.interestedCampaigns(tx, projectId, names)
    const starting = await Promise.all(campaigns.map(({ id, version }) => plans(tx, projectId, id, version)))
    const byEvent = Map.groupBy(starting, ({ trigger }) => trigger?.event)
    const limited = starting.filter((plan) => plan.againMs > 0 || isSequence(plan))
    if (limited.length > 0) await store.lockEntering(tx, projectId)
    const open = await openPlans(tx, projectId, userIds, names, limited)
    const waiting = open.length === 0 ? [] : await store.lockWaiting(tx, projectId, userIds, open)
    if (starting.length === 0 && waiting.length === 0) return
    const latest =
      limited.length === 0
        ? []
        : await store.latestJourneys(
            tx,
            projectId,
            userIds,
            limited.map(({ campaignId }) => campaignId),
            limited.filter(isSequence).map(({ campaignId }) => campaignId)
          )
    // One object for each journey: an event may end it, and the next event of the batch must see that.
    const known = new Map(waiting.map((one) => [one.id, one]))
    const all = [...starting, ...open]
    const pairs = pairsOf(events, all)
    if (patterns.unknown(pairs).length > 0) throw new PrepareFirst(() => patterns.learn(pairs))
    const batch: Batch = {
      now: new Date(),
      patterns: patterns.matches,
      plans: new Map(all.map((plan) => [versionKey(plan.campaignId, plan.version), plan])),
      waiting: Map.groupBy<string, Known>(waiting, ({ user_id }) => user_id),
      latest: new Map(latest.map((one) => [userKey(one.campaign_id, one.user_id), known.get(one.id) ?? one])),
      begun: [],
      exited: [],
      matches: [],
      refused: []
    }
    for (const event of events) {
      leave(batch, event)
      if (!starts) continue
      for (const plan of byEvent.get(event.name) ?? [])
        if (matches(batch, plan.trigger, event)) enter(batch, plan, event)
    }
    await leaveByLater(tx, projectId, batch)
    await writeBatch(tx, projectId, batch, triggers)
  }
}

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
  const latest = batch.latest.get(key)
  const last = latest && gotNothing(latest) ? undefined : latest
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
  const later = await eventsSince(tx, projectId, users, [...new Set(names)])
  for (const { user_id: userId, ...event } of later) leave(batch, { userId, ...event })
}
