import type { Db, Pool } from '../platform/db/db.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { inParts } from '../platform/parts.ts'
import { identity } from '../users/users.ts'
import type { createDelivery, OutgoingCall } from './deliver.ts'
import type { EventType } from './schemas.ts'
import * as store from './webhook-store.ts'

/** The outcome of a message. */
export interface OutcomeChange {
  triggerId: string
  campaignId: string | null
  messageId: string
  deviceId: string
  userId: string
  to: string
  reason: string | null
  kind: 'state' | 'delivered' | 'tapped'
}

export interface TriggerEnd {
  triggerId: string
  campaignId: string | null
  /** completed, canceled or failed. */
  state: string
  counts: Record<string, number>
}

/** Events in one call. */
const eventsPerCall = 100
const everyMs = 1_000
/** The most events that one transaction stores in one row, because a row is read as a whole. */
const eventsPerRow = 500

const typeOf = ({ kind, to }: OutcomeChange): EventType | undefined => {
  if (kind !== 'state') return `message.${kind}`
  if (to === 'accepted' || to === 'failed') return `message.${to}`
  return undefined
}

/** The webhooks of a project that a transaction has looked up: outcomes and the ends of their triggers share a look-up. */
const looked = new WeakMap<Db, { projectId: ProjectId; webhooks: ReturnType<typeof store.activeWebhooks> }>()

function webhooksIn(tx: Db, projectId: ProjectId): ReturnType<typeof store.activeWebhooks> {
  const known = looked.get(tx)
  if (known?.projectId === projectId) return known.webhooks
  const webhooks = store.activeWebhooks(tx, projectId)
  // The pool outlives every look-up.
  if ('commit' in tx) looked.set(tx, { projectId, webhooks })
  return webhooks
}

/**
 * Stores the events that webhooks subscribed to, in the transaction in which they happened. Without a webhook this
 * costs one look-up.
 */
async function book(tx: Db, projectId: ProjectId, happened: store.BookedEvent[]): Promise<void> {
  if (happened.length === 0) return
  const booked = (await webhooksIn(tx, projectId)).flatMap(({ id, events }) => {
    const wanted = happened.filter(({ type }) => events.includes(type))
    return inParts(wanted, eventsPerRow).map((portion) => ({ webhookId: id, events: portion }))
  })
  if (booked.length > 0) await store.bookEvents(tx, projectId, booked)
}

export function onOutcomes(tx: Db, projectId: ProjectId, changes: readonly OutcomeChange[]): Promise<void> {
  const at = new Date().toISOString()
  const happened = changes.flatMap((change) => {
    const type = typeOf(change)
    if (!type) return []
    const { messageId, campaignId, deviceId, userId, reason } = change
    // A message of a direct send has its own id in place of a trigger's.
    const triggerId = change.triggerId === messageId ? null : change.triggerId
    const data = { message_id: messageId, trigger_id: triggerId, campaign_id: campaignId, device_id: deviceId }
    return [{ id: newId(), type, at, data: { ...data, user_id: userId, reason } }]
  })
  return book(tx, projectId, happened)
}

export function onTriggersEnded(tx: Db, projectId: ProjectId, ends: readonly TriggerEnd[]): Promise<void> {
  const at = new Date().toISOString()
  const happened = ends.map(({ triggerId, campaignId, state, counts }) => ({
    id: newId(),
    type: 'trigger.completed' as const,
    at,
    data: { trigger_id: triggerId, campaign_id: campaignId, state, counts }
  }))
  return book(tx, projectId, happened)
}

/** A user who did what a campaign hoped for. */
export interface Conversion {
  campaign_id: string
  trigger_id: string
  message_id: string
  user_id: string
  /** Empty: none. */
  variant: string
  language: string
  step: string
  event: string
  at: Date
  value: string
}

/** Runs in the transaction that counts the conversions. */
export const onConverted = (tx: Db, projectId: ProjectId, conversions: readonly Conversion[]): Promise<void> =>
  book(
    tx,
    projectId,
    conversions.map(({ campaign_id, trigger_id, message_id, user_id, variant, language, step, event, at, value }) => ({
      id: newId(),
      type: 'campaign.converted',
      at: at.toISOString(),
      data: {
        ...{ campaign_id, trigger_id, message_id, user_id, event, value: Number(value) },
        ...{ variant: variant || null, language: language || null, step: step || null }
      }
    }))
  )

export type ApprovalEvent = 'approval.requested' | 'approval.decided'

/** Runs in the transaction in which an approval is requested or decided. */
export const onApproval = (
  tx: Db,
  projectId: ProjectId,
  type: ApprovalEvent,
  data: Record<string, unknown>
): Promise<void> => book(tx, projectId, [{ id: newId(), type, at: new Date().toISOString(), data }])

/** Runs in the transaction in which users opt out. */
export function onOptedOut(tx: Db, projectId: ProjectId, userIds: readonly string[]): Promise<void> {
  const at = new Date().toISOString()
  return book(
    tx,
    projectId,
    userIds.map((userId) => ({ id: newId(), type: 'user.opted_out', at, data: { user_id: userId } }))
  )
}

/**
 * Runs every second: makes calls of up to a hundred waiting events each. One job serves all webhooks. If each
 * transaction added a job, its key would be locked until that transaction commits, and the transactions of a broadcast
 * would wait for each other.
 */
export const batchEventsJob = (pool: Pool, { enqueue }: Pick<ReturnType<typeof createDelivery>, 'enqueue'>) =>
  recurring({
    name: 'webhooks.batch',
    everyMs,
    async run({ signal }) {
      // Runs in rounds, one batch for each webhook, so that a large backlog of one does not delay the others.
      for (let after: store.WaitingWebhook | undefined; ; ) {
        const waiting = await store.waitingWebhooks(pool, after)
        if (waiting.length === 0 && !after) return
        for (const { projectId, webhookId } of waiting) {
          signal.throwIfAborted()
          await pool.transaction((tx) => makeCalls(tx, projectId, webhookId, enqueue))
        }
        // The round goes on behind the last one: webhooks that always have events would hide those behind them.
        after = waiting.at(-1)
      }
    }
  })

async function makeCalls(
  tx: Db,
  projectId: ProjectId,
  webhookId: string,
  enqueue: ReturnType<typeof createDelivery>['enqueue']
): Promise<void> {
  // Locked: a change of the url sends the calls that it sees to the new one, and it would not see these.
  const webhook = await store.lockWebhook(tx, projectId, webhookId)
  const events = await store.takeEvents(tx, projectId, webhookId)
  // The webhook was deleted since.
  if (!webhook) return
  const userIds = events.flatMap(({ data }) => (typeof data.user_id === 'string' ? [data.user_id] : []))
  const names = await identity.namesOf(tx, projectId, [...new Set(userIds)])
  for (const portion of inParts(events, eventsPerCall)) {
    const body = JSON.stringify({
      type: 'events',
      timestamp: new Date().toISOString(),
      project_id: projectId,
      events: portion.map(({ id, type, at, data }) => ({
        id,
        type,
        at,
        ...data,
        ...('user_id' in data && { project_user_id: names.get(String(data.user_id)) ?? null })
      }))
    })
    const source = { kind: 'outcome' as const, id: webhookId }
    await enqueue(tx, projectId, { id: newId(), url: webhook.url, headers: {}, body, order: laneOf(webhookId), source })
  }
}

/** A call with a made-up event, which says that it is a test. */
export function testCallOf(
  projectId: ProjectId,
  { id: webhookId, url }: Pick<store.WebhookRow, 'id' | 'url'>
): OutgoingCall {
  const [id, timestamp] = [newId(), new Date().toISOString()]
  const event = { id: newId(), type: 'webhook.test', at: timestamp, test: true }
  const body = JSON.stringify({ type: 'events', timestamp, project_id: projectId, events: [event] })
  return { id, url, headers: {}, body, order: null, source: { kind: 'outcome', id: webhookId } }
}

export const laneOf = (webhookId: string) => `webhook ${webhookId}`
