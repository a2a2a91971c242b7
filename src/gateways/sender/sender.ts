import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential, CredentialSource, ProviderTokens } from '../credentials/credential.ts'
import type { GatewayName, Outcome, Push, Sender } from '../push.ts'
import { gateways } from '../table.ts'
import { nodeHttp2 } from '../transport/node-http2.ts'
import type { H2Transport } from '../transport/transport.ts'
import { createGuard, type Guard } from './guard.ts'
import { closed, rejected, retry } from './outcomes.ts'
import { createPool, type Pool } from './pool.ts'
import { defaultSettings, type SenderSettings } from './settings.ts'

export type { SenderSettings } from './settings.ts'

export interface SenderOptions {
  credentials: CredentialSource
  providerTokens: ProviderTokens
  log: Log
  metrics?: Pick<Metrics, 'counter' | 'gauge'>
  transport?: H2Transport
  settings?: Partial<SenderSettings>
  /** How many processes send: they share the quotas. */
  senders?: () => number
  /** Whether nothing of the project may leave. What waits for a gateway is given back then. */
  isPaused?: (projectId: ProjectId) => boolean
}

type Done = (outcome: Outcome) => void

interface Waiting {
  push: Push
  done: Done
  since: number
}

/** The way of one app's pushes: which credential, found when. Sending needs no promise while it is fresh. */
interface Lane {
  credential: Credential | null
  foundAt: number
  finding: Promise<void> | undefined
  usedAt: number
  waiting: Waiting[]
  pools: Map<string, Pool>
}

/** A lane that was not used for this long waits for its credential instead of trusting the last one. */
const trustedMs = 10_000
const mostWaiting = 64
const mostGuards = 10_000

export type GatewaySender = ReturnType<typeof createSender>

/** Hands pushes to the gateways. docs/decisions/0017-sender.md tells why it is as it is. */
export function createSender({ credentials, providerTokens, log, metrics, ...rest }: SenderOptions) {
  const { transport = nodeHttp2, senders = () => 1, isPaused = () => false } = rest
  const settings = { ...defaultSettings, ...rest.settings }
  const lanes = new Map<string, Lane>()
  const pools = new Map<string, Pool>()
  const guards = new Map<string, Guard>()
  const counts = new Map<string, { labels: Record<string, string>; value: number }>()
  let closing = false

  metrics?.counter('tidings_pushes_total', 'Attempts to hand a push over, by how they ended.', () => [
    ...counts.values()
  ])
  metrics?.gauge('tidings_pushes_in_flight', 'Pushes that a gateway has not answered yet.', inFlight, 'gateway')

  function inFlight() {
    const by: Record<GatewayName, number> = { apns: 0, fcm: 0, webpush: 0 }
    for (const pool of pools.values()) by[pool.credential.gateway] += pool.stats().inFlight
    return by
  }

  /** Counts the outcome on its way. */
  function counted(push: Push, done: Done): Done {
    return (outcome) => {
      const key = `${push.gateway} ${outcome.kind}`
      const count = counts.get(key)
      if (count) count.value += 1
      else counts.set(key, { labels: { gateway: push.gateway, outcome: outcome.kind }, value: 1 })
      done(outcome)
    }
  }

  function laneOf({ projectId, gateway, environment, app }: Push): Lane {
    const key = `${projectId} ${gateway} ${environment} ${app ?? ''}`
    let lane = lanes.get(key)
    if (!lane) {
      lane = { credential: null, foundAt: 0, finding: undefined, usedAt: 0, waiting: [], pools: new Map() }
      lanes.set(key, lane)
    }
    return lane
  }

  async function find(lane: Lane, { projectId, gateway, environment, app }: Push): Promise<void> {
    try {
      const found = await within(credentials.find(projectId, gateway, environment, app), settings.deadlineMs / 2)
      replace(lane, found)
      lane.foundAt = steadyMs()
    } catch (error) {
      log.warn({ error, project: projectId, gateway }, 'the credential of a project cannot be read')
      for (const { done } of lane.waiting.splice(0)) done(unread())
      return
    } finally {
      lane.finding = undefined
    }
    for (const each of lane.waiting.splice(0)) route(lane, each)
  }

  /** A saved credential has another version: what is on its way with the old one may end, nothing new begins. */
  function replace(lane: Lane, found: Credential | null) {
    const before = lane.credential
    lane.credential = found
    if (before && found && isSame(before, found)) return
    lane.pools.clear()
    if (!before) return
    for (const [key, pool] of pools) {
      if (!isSame(pool.credential, before)) continue
      pools.delete(key)
      const waiting = pool.withdraw()
      void pool.close(settings.deadlineMs)
      // Another app of the project may have another credential by now, and asks for it itself.
      for (const each of waiting)
        if (laneOf(each.push) === lane) route(lane, each)
        else each.done(giveBack('The credential of the project has changed.', 0))
    }
  }

  function route(lane: Lane, { push, done, since }: Waiting): void {
    const pool = poolOf(lane, push)
    if ('kind' in pool) setImmediate(done, pool)
    else pool.submit(push, done, since)
  }

  function poolOf(lane: Lane, push: Push): Pool | Outcome {
    const { credential } = lane
    if (!credential) return rejected('CREDENTIALS_MISSING')
    const gateway = gateways[credential.gateway]
    const origin = gateway.origin(push, credential)
    if (typeof origin !== 'string') return { ...origin }
    const known = lane.pools.get(origin)
    if (known && !known.closing) return known
    const key = `${credential.projectId} ${credential.id} ${credential.version} ${push.environment} ${origin}`
    const pool = pools.get(key) ?? newPool(credential, origin)
    pools.set(key, pool)
    lane.pools.set(origin, pool)
    return pool
  }

  function newPool(credential: Credential, origin: string): Pool {
    return createPool({
      gateway: gateways[credential.gateway],
      credential,
      origin,
      transport,
      providerToken: (refused) =>
        credential.gateway === 'webpush' ? Promise.resolve('') : providerTokens.of(credential, refused),
      settings,
      guard: guardOf(credential),
      // The stand-ins have no quota, or one that they tell themselves.
      perSecond: () => (credential.gateway === 'fcm' && !credential.simulated ? settings.fcmPerSecond / senders() : 0),
      admitSocket,
      isPaused: () => isPaused(credential.projectId),
      log
    })
  }

  /** Outlives the pools, so that an hour without pushes does not make a proven credential a new one. */
  function guardOf({ projectId, id, version }: Credential): Guard {
    const key = `${projectId} ${id} ${version}`
    const guard = guards.get(key) ?? createGuard()
    guards.delete(key)
    guards.set(key, guard)
    const [oldest] = guards.keys()
    if (guards.size > mostGuards) guards.delete(oldest!)
    return guard
  }

  /** The pool that was idle for longest makes room. */
  function admitSocket(): boolean {
    let sockets = 0
    let oldest: [string, Pool] | undefined
    for (const [key, pool] of pools) {
      sockets += pool.sockets
      if (pool.idle && pool.sockets > 0 && (!oldest || pool.usedAt < oldest[1].usedAt)) oldest = [key, pool]
    }
    if (sockets < settings.maxSockets) return true
    if (!oldest) return false
    pools.delete(oldest[0])
    void oldest[1].close(0)
    return true
  }

  let ticks = 0
  let busy = false
  const timer = setInterval(() => {
    const now = steadyMs()
    ticks += 1
    // A process does not end while somebody waits for an outcome, and is not kept by a sender with nothing to do.
    busy = [...pools.values()].some((pool) => !pool.idle) || [...lanes.values()].some((lane) => lane.waiting.length > 0)
    if (!busy) timer.unref()
    for (const [key, pool] of pools) {
      // Of thousands of projects few are busy: the others are looked at now and then.
      if (pool.idle && ticks % 10 !== 0) continue
      pool.tick(now)
      if (!pool.idle || now - pool.usedAt < settings.idleMs) continue
      pools.delete(key)
      void pool.close(0)
    }
    for (const [key, lane] of lanes)
      if (lane.waiting.length === 0 && now - lane.usedAt > settings.idleMs) lanes.delete(key)
  }, settings.tickMs)
  timer.unref()

  const sender: Sender = {
    submit(push, given) {
      if (closing) {
        setImmediate(counted(push, given), closed())
        return true
      }
      if (!busy) {
        busy = true
        timer.ref()
      }
      const now = steadyMs()
      const lane = laneOf(push)
      lane.usedAt = now
      const age = now - lane.foundAt
      if (age > settings.credentialMs) lane.finding ??= find(lane, push)
      if (age < trustedMs) {
        const pool = poolOf(lane, push)
        if ('kind' in pool) setImmediate(counted(push, given), pool)
        else if (pool.full(push)) return false
        else pool.submit(push, counted(push, given))
      } else if (lane.waiting.length >= mostWaiting) return false
      else lane.waiting.push({ push, done: counted(push, given), since: now })
      return true
    },
    async ready(push) {
      const lane = laneOf(push)
      if (steadyMs() - lane.foundAt >= trustedMs) await lane.finding
      if (closing) return
      const pool = poolOf(lane, push)
      if (!('kind' in pool)) await pool.ready(push)
    },
    async close(deadlineMs) {
      closing = true
      clearInterval(timer)
      for (const lane of lanes.values()) for (const { done } of lane.waiting.splice(0)) done(closed())
      await Promise.all([...pools.values()].map((pool) => pool.close(deadlineMs)))
    }
  }

  return {
    ...sender,
    stats() {
      const all = [...pools.values()].map((pool) => pool.stats())
      return { pools: all, sockets: [...pools.values()].reduce((sum, pool) => sum + pool.sockets, 0) }
    }
  }
}

const isSame = (a: Credential, b: Credential) => a.projectId === b.projectId && a.id === b.id && a.version === b.version

const giveBack = (message: string, waitMs: number) => retry('GATEWAY_UNAVAILABLE', steadyMs() + waitMs, { message })
const unread = () => giveBack('The credential of the project cannot be read at the moment.', 2_000)

function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
