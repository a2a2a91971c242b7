import type { Outcome, Sender } from '../gateways/gateways.ts'
import { nextStep } from '../messages/messages.ts'
import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { askApple, type Left } from './asking.ts'
import * as store from './store.ts'
import { tellSettled } from './waiting.ts'

export interface Creating {
  pool: Pool
  sender: Sender
  log: Log
}

export interface App {
  app: string
  environment: 'production' | 'sandbox'
}

/** A channel that Apple has not created by then fails. */
const longestMs = 3_600_000
const lostWaitMs = 1_000

/**
 * Creates the oldest channel of an app that waits for it. The ids that exist at Apple are written down before the
 * request. If its response is lost, by a crash or a broken connection, the one id that is new since then is ours: no
 * channel is left at Apple that the service does not know.
 */
export async function createNext(deps: Creating, projectId: ProjectId, { app, environment }: App): Promise<Left> {
  const { pool, sender } = deps
  const row = await store.findOldestCreating(pool, projectId, environment, app)
  if (!row) return 'nothing'
  const notAfter = row.created_at.getTime() + longestMs
  const listed = await askApple(sender, projectId, row, { kind: 'channel-list' }, { notAfter })
  if (listed.kind !== 'accepted') return postpone(deps, projectId, row, listed, notAfter)
  const now = listed.channels ?? []
  const ours = row.before && (await findOurs(deps, projectId, row, now))
  if (ours) return activate(deps, projectId, row, ours)
  await store.storeBefore(pool, projectId, row.id, now)
  const made = await askApple(sender, projectId, row, { kind: 'channel-create', stored: row.stored }, { notAfter })
  if (made.kind === 'accepted') return activate(deps, projectId, row, made.gatewayMessageId)
  return postpone(deps, projectId, row, made, notAfter)
}

/** The id of a channel that an earlier request created without our reading its response. */
async function findOurs(
  { pool, log }: Creating,
  projectId: ProjectId,
  { id, before }: store.ChannelRow,
  now: string[]
): Promise<string | undefined> {
  const earlier = new Set(before)
  const fresh = now.filter((one) => !earlier.has(one))
  const known = fresh.length > 0 ? await store.findKnown(pool, fresh) : new Set()
  const unclaimed = fresh.filter((one) => !known.has(one))
  // Another service that uses the same app created some of them; none may be taken or deleted by guessing.
  if (unclaimed.length > 1)
    log.warn({ projectId, channel: id, unclaimed }, 'one of these channels at Apple belongs to the service')
  return unclaimed.length === 1 ? unclaimed[0] : undefined
}

async function activate(
  { pool }: Creating,
  projectId: ProjectId,
  { id }: store.ChannelRow,
  apnsChannelId: string
): Promise<Left> {
  await store.activateChannel(pool, projectId, id, apnsChannelId)
  await tellSettled(pool, id)
  return 'more'
}

async function postpone(
  { pool }: Creating,
  projectId: ProjectId,
  { id, retries }: store.ChannelRow,
  outcome: Exclude<Outcome, { kind: 'accepted' }>,
  notAfter: number
): Promise<Left> {
  const now = Date.now()
  // The next attempt first finds out whether this one arrived, so it may be repeated as often as it takes.
  if (outcome.kind === 'unknown' && now + lostWaitMs < notAfter) {
    const { reason, message } = outcome
    await store.postponeChannel(pool, projectId, id, { retries, reason, message })
    return { waitMs: lostWaitMs, reason: message }
  }
  const next = nextStep(outcome, { retries, notAfter }, now)
  if (next.kind === 'accepted') return 'more'
  if (next.kind === 'again') {
    const { reason, message } = next
    await store.postponeChannel(pool, projectId, id, { retries: next.retries, reason, message })
    return { waitMs: next.at - now, reason: message }
  }
  await store.failChannel(pool, projectId, id, next.reason, next.message ?? null)
  await tellSettled(pool, id)
  return 'more'
}
