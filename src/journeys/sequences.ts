import type { Pool } from '../platform/db/db.ts'
import { timedIdOf, timeOfId } from '../platform/ids.ts'
import type { PatternMatcher } from '../segments/segments.ts'
import type { Sequences } from '../triggers/triggers.ts'
import { insertJourneys, usersUnderWay } from './entering-store.ts'
import { thoseWhoSent } from './exits.ts'
import type { Journey } from './journey.ts'
import { journeysOfTrigger } from './leaving-store.ts'
import { dueAfter, isSequence, type Plans } from './plan.ts'
import { addStepJobs } from './step-job.ts'
import { postponeUsers } from './steps-store.ts'

/** Properties up to this size are copied to the journey, so that users of many small triggers share the next one. */
const copiedBytes = 4_096

/** An event may be stored, and arrive, while the message that it stops is accepted. */
const earlierMs = 3_600_000

interface SequencesOptions {
  pool: Pool
  plans: Plans
  patterns: PatternMatcher
}

/** What the steps of campaigns do with the users of a batch, in the transaction that writes it. */
export const createSequences = ({ pool, plans, patterns }: SequencesOptions): Sequences => ({
  /** Users who are in the steps already, by another trigger, get no first message again. */
  async enter(tx, projectId, trigger, recipients) {
    const plan = await plans(tx, projectId, trigger.campaign_id, trigger.campaign_version)
    const owns = new Map(recipients.map(({ user_id, own }) => [user_id, own ?? {}]))
    if (!isSequence(plan)) return new Set()
    const now = new Date()
    const dueAt = dueAfter(now, plan.steps[1]!.waitMs)
    const copies = trigger.audience === 'targets' && JSON.stringify(trigger.properties).length <= copiedBytes
    const journeys = [...owns]
      .filter(([userId]) => !plan.heldOut(userId))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(
        ([userId, own]): Journey => ({
          // The same for each device and each attempt: a user enters once by a trigger.
          id: timedIdOf(`${trigger.id} ${userId}`, timeOfId(trigger.id)),
          campaign_id: plan.campaignId,
          campaign_version: plan.version,
          user_id: userId,
          source: { kind: 'trigger', trigger_id: trigger.id },
          properties: copies ? { ...trigger.properties, ...own } : own,
          inherits: !copies,
          sequence: true,
          entered_at: now,
          step: 1,
          due_at: dueAt,
          first_trigger: trigger.id,
          state: 'waiting',
          reason: null
        })
      )
    const begun = await insertJourneys(tx, projectId, journeys, now)
    const { campaignId, version } = plan
    if (begun.size > 0) await addStepJobs(tx, projectId, [{ campaignId, version, step: 1, dueAt }])
    const others = journeys.flatMap(({ id, user_id }) => (begun.has(id) ? [] : user_id))
    return others.length === 0 ? new Set() : usersUnderWay(tx, projectId, plan.campaignId, others, trigger.id)
  },

  /**
   * Journeys tell who has left. They do not if the held message is the last one, which ended them, or if an event was not
   * handled yet, so events are looked up too.
   */
  async exited(projectId, trigger, recipients) {
    const plan = await plans(pool, projectId, trigger.campaign_id, trigger.campaign_version)
    const ownOf = new Map(recipients.map(({ user_id, own }) => [user_id, own ?? {}]))
    const journeys = await journeysOfTrigger(pool, projectId, trigger, [...ownOf.keys()])
    const left = new Set(journeys.flatMap(({ state, user_id }) => (state === 'exited' ? user_id : [])))
    if (!plan.exit) return left
    const enteredAt = new Map(journeys.map(({ user_id, entered_at }) => [user_id, entered_at.getTime()]))
    const startedMs = trigger.started_at.getTime()
    const users = [...ownOf].map(([userId, own]) => ({
      userId,
      // A campaign of one step may have no journeys.
      since: new Date(Math.max(enteredAt.get(userId) ?? startedMs, startedMs - earlierMs)),
      own,
      shared: trigger.properties
    }))
    for (const { userId } of await thoseWhoSent(pool, projectId, plan.exit, users, patterns)) left.add(userId)
    return left
  },

  /** The journeys of these users are at the step after that of the trigger, or were and have ended. */
  async waitFrom(tx, projectId, sent, userIds, from) {
    const plan = await plans(tx, projectId, sent.campaign_id, sent.campaign_version)
    // A trigger of the API gets the name of its step, the first one, with its first batch.
    const step =
      Math.max(
        0,
        plan.steps.findIndex(({ id }) => id === sent.step)
      ) + 1
    const next = plan.steps[step]
    if (!next) return
    const { campaignId, version } = plan
    const bucket = { campaignId, version, step, dueAt: dueAfter(from, next.waitMs) }
    if ((await postponeUsers(tx, projectId, bucket, userIds)) > 0) await addStepJobs(tx, projectId, [bucket])
  }
})
