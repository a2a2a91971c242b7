import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { recurring } from '../platform/jobs/definition.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type Resolve, refuseAddress, resolveFor } from '../platform/net/guard.ts'
import { listRetentions, recordAudit } from '../projects/projects.ts'
import { type CallState, dropLane, eraseCallWindow, overdueLanes, sweepCalls } from './call-store.ts'
import { createCaller } from './caller.ts'
import { createCircuits } from './circuit.ts'
import { createDelivery, type Result } from './deliver.ts'
import { type CallFilter, findCall, listAttempts, listCalls } from './delivery-store.ts'
import {
  batchEventsJob,
  onApproval,
  onConverted,
  onOptedOut,
  onOutcomes,
  onTriggersEnded,
  testCallOf
} from './outcomes.ts'
import { createRegistry, nameOf } from './registry.ts'
import { createSecrets, projectOwner } from './secrets.ts'
import { dropOrphanedEvents } from './webhook-store.ts'

export { mayConnect } from '../platform/net/addresses.ts'
export { AddressRefused, guardedLookup, refuseAddress, refuseUrl, resolveByDns } from '../platform/net/guard.ts'
export { callQueue, type OutgoingCall } from './deliver.ts'
export type { ApprovalEvent, OutcomeChange, TriggerEnd } from './outcomes.ts'
export type Webhooks = ReturnType<typeof createWebhooks>

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** How long calls are kept, from their creation: delivered ones for a day's history, failed ones for a replay. */
export const keptMs = { delivered: 2 * dayMs, failed: 30 * dayMs }
/** The most failed calls that one request starts again. */
export const replayedAtOnce = 1_000
/** A lane that is overdue by this much has lost its job. */
const overdueMs = 10 * 60_000

export interface WebhookOptions {
  pool: Pool
  metrics: Metrics
  /** The master key: secrets and headers are sealed with it. */
  key: Buffer
  allowPrivate: boolean
  /** Whether a project may have receivers on this machine now. Checked at registration and at every call. */
  mayBeLocal?: (projectId: ProjectId) => Promise<boolean>
  /** For tests: authorities to trust, and another DNS. */
  ca?: string
  resolve?: Resolve
  timeoutMs?: number
}

/** Calls to addresses that others chose: checked, signed, in order, retried for a day. */
export function createWebhooks(options: WebhookOptions) {
  const { pool, metrics, key, allowPrivate, mayBeLocal = async () => false } = options
  const { resolve = resolveFor(allowPrivate) } = options
  const results: Record<Result, number> = { delivered: 0, retried: 0, failed: 0 }
  metrics.counter('tidings_webhook_calls_total', 'Calls to webhooks, by how they ended.', () =>
    Object.entries(results).map(([result, value]) => ({ labels: { result }, value }))
  )
  const circuits = createCircuits()
  metrics.gauge('tidings_webhook_destinations', 'Calls in flight, and destinations left alone.', circuits.stats)
  const caller = createCaller(options)
  const secrets = createSecrets(key)
  const delivery = createDelivery({
    pool,
    key,
    caller,
    circuits,
    secrets,
    mayBeLocal,
    count: (result) => void results[result]++
  })
  const refuse = async (url: string, projectId: ProjectId) =>
    refuseAddress(url, allowPrivate || ((await mayBeLocal(projectId)) && 'loopback'), resolve)
  const registry = createRegistry({ pool, secrets, refuse, wake: delivery.wake })

  /** Runs hourly: deletes old calls and events of deleted webhooks, and adds a job to lanes without one. */
  const keep = recurring({
    name: 'webhooks.keep',
    everyMs: hourMs,
    async run({ signal }) {
      const now = Date.now()
      for (const { projectId } of await listRetentions(pool)) {
        for (const [state, ms] of Object.entries(keptMs) as [CallState, number][]) {
          while ((await sweepCalls(pool, projectId, state, firstIdAt(now - ms))) > 0) signal.throwIfAborted()
        }
        for (const lane of await overdueLanes(pool, projectId, new Date(now - overdueMs)))
          await delivery.wake(pool, projectId, lane)
        await dropOrphanedEvents(pool, projectId)
      }
    }
  })

  return {
    registry,
    /** The reason why a url may not be registered, or null. Checked again at every connection. */
    refuse,
    /** Runs in the caller's transaction: the call is made only if that commits. */
    enqueue: delivery.enqueue,
    /** Deletes the waiting calls of an order key. */
    dropCalls: dropLane,
    onOutcomes,
    onTriggersEnded,
    onApproval,
    onConverted,
    onOptedOut,
    /** The signing secret of the project, made when first needed. */
    secretOf: async (projectId: ProjectId, db: Db = pool): Promise<string> =>
      (await secrets.ensure(db, projectId, projectOwner))[0]!,
    listCalls: (projectId: ProjectId, filter: CallFilter, before: string | null, limit: number) =>
      pool.reading((db) => listCalls(db, projectId, filter, before, limit)),
    /** A call with its body and its attempts, newest first; undefined if it does not exist. */
    async findCall(projectId: ProjectId, id: string) {
      const call = await findCall(pool, projectId, id)
      return call && { ...call, made: await listAttempts(pool, projectId, id) }
    },
    /** Starts failed calls of a time again, of one webhook or of all, and returns their number. */
    replayFailed: (actor: string, projectId: ProjectId, since: Date, webhookId: string | undefined) =>
      delivery.replayFailed(projectId, { since, sourceId: webhookId, limit: replayedAtOnce }, (tx, count) =>
        recordAudit(tx, projectId, {
          actor,
          action: 'webhook_delivery.replay_failed',
          target: webhookId ?? projectId,
          details: { count, since: since.toISOString() }
        })
      ),
    replay: (actor: string, projectId: ProjectId, id: string) =>
      delivery.replay(projectId, id, (tx) =>
        recordAudit(tx, projectId, { actor, action: 'webhook_delivery.replay', target: id })
      ),
    /** Calls a webhook once and returns the id of the call, which has ended. */
    test: async (actor: string, projectId: ProjectId, id: string): Promise<string> => {
      const webhook = await registry.get(projectId, id)
      const call = testCallOf(projectId, webhook)
      const details = { name: nameOf(webhook), delivery_id: call.id }
      if (!circuits.beginTest(projectId))
        throw new Refusal('rate_limited', 'Too many test events of this project wait for their responses.')
      await delivery
        .callOnce(projectId, call, (tx) =>
          recordAudit(tx, projectId, { actor, action: 'webhook.test', target: id, details })
        )
        .finally(() => circuits.endTest(projectId))
      return call.id
    },
    /** The job that makes calls, and the job that turns waiting events into calls. */
    jobs: [delivery.job, batchEventsJob(pool, delivery)] as const,
    keepJob: keep,
    /** Deletes one batch of calls of a project that is being erased. */
    eraseWindow: eraseCallWindow,
    close: caller.close
  }
}
