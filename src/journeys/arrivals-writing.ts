import type { ArrivedEvent } from '../events/events.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { PatternMatcher } from '../segments/segments.ts'
import * as store from './entering-store.ts'
import type { Bucket, Journey } from './journey.ts'
import { exitJourneys } from './leaving-store.ts'
import { keepUntil, type Plan } from './plan.ts'
import { addStepJobs } from './step-job.ts'
import { acceptTogether, type Recipient, type TriggerMaker } from './together.ts'

export type Known = Journey & { again?: number; isNew?: boolean }

/** An event that starts a campaign for its user. */
interface Match {
  plan: Plan
  event: ArrivedEvent
  journey: Known | undefined
}

/** The state of one batch of events: journeys are decided in memory, event by event, and then written together. */
export interface Batch {
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

export const versionKey = (campaignId: string, version: number) => JSON.stringify([campaignId, version])

/** Writes what a batch of events changed: journeys, triggers and the jobs of those who wait. */
export async function writeBatch(tx: Db, projectId: ProjectId, batch: Batch, triggers: TriggerMaker): Promise<void> {
  const { now, begun, exited, refused, matches } = batch
  const planOf = (journey: Known) => batch.plans.get(versionKey(journey.campaign_id, journey.campaign_version))!
  const keptUntil = (journey: Known) => keepUntil(planOf(journey), journey, now)
  if (exited.length > 0)
    await exitJourneys(
      tx,
      projectId,
      exited.map(({ journey, reason }) => ({ id: journey.id, reason, keep_until: keptUntil(journey) })),
      now
    )
  const sent = await acceptMatches(tx, projectId, matches, triggers)
  for (const { journey, triggerId } of sent) {
    if (!journey) continue
    journey.first_trigger = triggerId ?? null
    // The campaign was paused or archived at this moment.
    if (triggerId === undefined) Object.assign(journey, { state: 'stopped', reason: 'campaign_not_active' })
  }
  const rows = begun.map(({ isNew: _, again: __, ...journey }) => ({
    ...journey,
    properties: journey.state === 'waiting' ? journey.properties : {},
    keep_until: keptUntil(journey)
  }))
  await store.insertJourneys(tx, projectId, rows, now)
  const waiting = begun.filter(({ state }) => state === 'waiting')
  await addStepJobs(tx, projectId, waiting.map(bucketOf))
  const times = new Map([...batch.latest.values()].flatMap(({ id, again }) => (again ? [[id, again] as const] : [])))
  if (times.size > 0) await store.countAgain(tx, projectId, times, now)
  await skipRefused(tx, projectId, refused, sent, triggers)
}

const bucketOf = (journey: Journey): Bucket => ({
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
