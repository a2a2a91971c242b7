import type { Outcome, Sender } from '../gateways/gateways.ts'
import { crashesForgiven, nextStep } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { askApple, type Left } from './asking.ts'
import * as changes from './change-store.ts'
import * as store from './store.ts'
import { tellSettled } from './waiting.ts'

export interface Sending {
  pool: Pool
  sender: Sender
  log: Log
}

/**
 * Phones order changes by whole seconds, so quick ones get times ahead of the clock. From this many seconds on, each
 * waits for one: a channel then sends one change a second, always the newest.
 */
const mostAhead = 5
const paceMs = 1_000
const removalRetryMs = 60_000
/** A channel that Apple refuses to delete is forgotten after this time. */
const removalMs = 24 * 3_600_000

/** Does the next piece of work of a channel: hands its first open change over, or deletes the channel at Apple. */
export async function serveNext(
  deps: Sending,
  projectId: ProjectId,
  channelId: string,
  signal: AbortSignal
): Promise<Left> {
  const taken = await deps.pool.transaction((tx) => take(tx, projectId, channelId))
  // After a stall another worker has the job, and may have sent a newer change.
  signal.throwIfAborted()
  if (taken === 'deleting') return remove(deps, projectId, channelId)
  if (typeof taken === 'string' || 'waitMs' in taken) return taken
  const { channel, change, atSeconds, repeat } = taken
  const outcome = await askApple(
    deps.sender,
    projectId,
    channel,
    {
      kind: 'channel-broadcast',
      channelId: channel.apns_channel_id!,
      stored: channel.stored,
      change: { kind: change.kind, activity: { ...change.activity, timestamp: atSeconds } }
    },
    { messageId: change.message_id, priority: change.priority, notAfter: change.not_after.getTime(), repeat }
  )
  return settle(deps, projectId, channelId, change, outcome)
}

interface Taken {
  channel: store.ChannelRow
  change: changes.ChangeRow
  atSeconds: number
  repeat: boolean
}

/**
 * Takes the first open change and writes that it is handed over, with its time. Only then does the request leave. The
 * job of a channel runs once at a time, so a change that is found as handed was left by a process that died.
 */
async function take(tx: Db, projectId: ProjectId, channelId: string): Promise<Taken | Left | 'deleting'> {
  const channel = await store.lockChannel(tx, projectId, channelId)
  if (channel?.state === 'deleting') {
    await changes.cancelChanges(tx, projectId, channelId)
    return 'deleting'
  }
  if (channel?.state !== 'active') return 'nothing'
  if ((await changes.supersedeOlder(tx, projectId, channelId)) > 0) await tellSettled(tx, channelId)
  const change = await changes.findFirstOpen(tx, projectId, channelId)
  if (!change) return 'nothing'
  const now = Date.now()
  const crashed = (change.retries.crashed ?? 0) + 1
  const retries = change.state === 'handed' ? { ...change.retries, crashed } : change.retries
  if (now > change.not_after.getTime() || (retries.crashed ?? 0) > crashesForgiven) {
    const reason = now > change.not_after.getTime() ? ('EXPIRED' as const) : ('INTERNAL_ERROR' as const)
    const failed = { ...change, state: 'failed' as const, due_at: null, retries, reason, reason_message: null }
    await changes.settleChange(tx, projectId, channelId, change.number, failed)
    await tellSettled(tx, channelId)
    return 'more'
  }
  const waitMs = Math.max(change.due_at ? change.due_at.getTime() - now : 0, paceOf(channel, change, now))
  if (waitMs > 0) return { waitMs, reason: 'The channel waits to send its next change.' }
  const next = Math.max(Math.floor(now / 1000), Number(channel.last_timestamp) + 1)
  const atSeconds = change.at_seconds === null ? next : Number(change.at_seconds)
  await changes.handChangeOver(tx, projectId, channelId, change.number, { atSeconds, retries })
  const repeat = change.state === 'unknown' || change.state === 'handed'
  return { channel, change: { ...change, retries }, atSeconds, repeat }
}

/** The wait of a channel whose times are far ahead of the clock, counted from the last change that it handed over. */
function paceOf({ last_timestamp, handed_at }: store.ChannelRow, { at_seconds }: changes.ChangeRow, now: number) {
  const ahead = Number(last_timestamp) + 1 - Math.floor(now / 1000)
  if (at_seconds !== null || handed_at === null || ahead <= mostAhead) return 0
  // The clock may have been set back, and a channel waits for a second at most.
  return Math.min(paceMs, handed_at.getTime() + paceMs - now)
}

async function settle(
  { pool }: Sending,
  projectId: ProjectId,
  channelId: string,
  change: changes.ChangeRow,
  outcome: Outcome
): Promise<Left> {
  const { number, retries } = change
  const attempts = change.attempts + (outcome.kind === 'retry' && outcome.free ? 0 : 1)
  const next = nextStep(outcome, { retries, notAfter: change.not_after.getTime() }, Date.now())
  const accepted = next.kind === 'accepted'
  const settlement = {
    state: next.kind === 'again' ? (next.lost ? ('unknown' as const) : ('queued' as const)) : next.kind,
    due_at: next.kind === 'again' ? new Date(next.at) : null,
    attempts,
    retries: next.kind === 'again' ? next.retries : retries,
    gateway_message_id: accepted ? next.gatewayMessageId : null,
    reason: accepted ? null : next.reason,
    reason_message: accepted ? null : (next.message ?? null)
  }
  await changes.settleChange(pool, projectId, channelId, number, settlement)
  // The next look decides whether it waits, or whether a newer change has taken its place.
  if (next.kind !== 'again') await tellSettled(pool, channelId)
  return 'more'
}

/** The channel is gone here only once it is gone at Apple, where the number of channels is limited. */
async function remove({ pool, sender, log }: Sending, projectId: ProjectId, channelId: string): Promise<Left> {
  const channel = await store.findChannel(pool, projectId, channelId)
  if (!channel) return 'nothing'
  const content = { kind: 'channel-delete' as const, channelId: channel.apns_channel_id! }
  const outcome = await askApple(sender, projectId, channel, content, { notAfter: Date.now() + removalRetryMs })
  const isOld = Date.now() - channel.updated_at.getTime() > removalMs && outcome.kind === 'rejected'
  if (outcome.kind === 'accepted' || isOld) {
    if (outcome.kind !== 'accepted') log.warn({ projectId, channel: channelId }, 'a channel may be left at Apple')
    await store.removeChannel(pool, projectId, channelId)
    await tellSettled(pool, channelId)
    return 'nothing'
  }
  const { retries } = channel
  await store.postponeChannel(pool, projectId, channelId, { retries, reason: outcome.reason, message: outcome.message })
  const waitMs = outcome.kind === 'retry' ? Math.max(1_000, outcome.notBefore - Date.now()) : removalRetryMs
  return { waitMs: outcome.kind === 'unknown' ? 1_000 : waitMs, reason: outcome.message }
}
