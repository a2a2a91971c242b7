import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential, CredentialSource, ProviderTokens } from '../credentials/credential.ts'
import type { GatewayName, Outcome, Push, Sender } from '../push.ts'
import { gateways } from '../table.ts'
import { framed } from '../transport/framing/open.ts'
import type { H2Transport } from '../transport/transport.ts'
import type { Done } from './entry.ts'
import { createGuard, type Guard } from './limits/guard.ts'
import { closed, rejected, retry } from './outcomes.ts'
import { Pool, type Withdrawn } from './pool.ts'
import { Pools } from './pools.ts'
import { defaultSettings, type SenderSettings } from './settings.ts'

export type { SenderSettings } from './settings.ts'

export interface SenderOptions {
  credentials: CredentialSource
  providerTokens: ProviderTokens
  log: Log
  metrics?: Pick<Metrics, 'counter' | 'gauge'>
  transport?: H2Transport
  settings?: Partial<SenderSettings>
  /** The number of processes that send: they share the quotas. */
  senders?: () => number
  /** No push of a paused project may leave; waiting ones are returned to their callers. */
  isPaused?: (projectId: ProjectId) => boolean
}

const noOutcomes = (): Record<Outcome['kind'], number> => ({ accepted: 0, rejected: 0, retry: 0, unknown: 0 })

/** The pushes of one app, with their credential and the time at which it was found. While it is fresh, sending needs no promise. */
interface Lane {
  readonly projectId: ProjectId
  readonly gateway: GatewayName
  readonly environment: Push['environment']
  readonly app: string | null
  credential: Credential | null
  foundAt: number
  finding: Promise<void> | undefined
  usedAt: number
  waiting: Withdrawn[]
  /** Some of the pools by origin, so that most pushes need no key. */
  pools: Map<string, Pool>
}

/** A lane that was unused for this long waits for its credential instead of trusting the last one. */
const trustedMs = 10_000
const mostWaiting = 64
const mostGuards = 10_000

/** Dispatches pushes to the gateways. docs/decisions/0017-sender.md gives the reasons. */
export class GatewaySender implements Sender {
  readonly #options: SenderOptions
  readonly #transport: H2Transport
  readonly #settings: SenderSettings
  readonly #lanes = new Map<string, Lane>()
  readonly #pools: Pools
  readonly #guards = new Map<string, Guard>()
  readonly #counts = { apns: noOutcomes(), fcm: noOutcomes(), webpush: noOutcomes() }
  #lastLane: Lane | undefined
  readonly #timer: NodeJS.Timeout
  #ticks = 0
  #busy = false
  #closing = false

  constructor(options: SenderOptions) {
    this.#options = options
    this.#transport = options.transport ?? framed
    this.#settings = { ...defaultSettings, ...options.settings }
    this.#pools = new Pools(this.#settings)
    this.#timer = setInterval(() => this.#tick(), this.#settings.tickMs)
    this.#timer.unref()
    const { metrics } = options
    metrics?.counter('tidings_pushes_total', 'Attempts to hand a push over, by how they ended.', () => this.#counted())
    const inFlight = () => this.#inFlight()
    metrics?.gauge('tidings_pushes_in_flight', 'Pushes that a gateway has not answered yet.', inFlight, {
      label: 'gateway'
    })
    metrics?.gauge(
      'tidings_gateway_circuits_open',
      'Credentials with which nothing is sent at the moment, because the gateway refuses them.',
      () => this.#open(),
      { label: 'gateway' }
    )
  }

  submit(push: Push, done: Done): boolean {
    if (this.#closing) {
      this.#answerLater(push, done, closed())
      return true
    }
    if (!this.#busy) {
      this.#busy = true
      this.#timer.ref()
    }
    const now = steadyMs()
    const lane = this.#laneOf(push)
    lane.usedAt = now
    const age = now - lane.foundAt
    if (age > this.#settings.credentialMs) lane.finding ??= this.#find(lane, push)
    if (age < trustedMs) {
      const pool = this.#poolOf(lane, push)
      if ('kind' in pool) this.#answerLater(push, done, pool)
      else if (pool.full(push)) return false
      else pool.submit(push, done, now)
    } else if (lane.waiting.length >= mostWaiting) return false
    else lane.waiting.push({ push, done, since: now })
    return true
  }

  async ready(push: Push): Promise<void> {
    const lane = this.#laneOf(push)
    if (steadyMs() - lane.foundAt >= trustedMs) await lane.finding
    if (this.#closing) return
    const pool = this.#poolOf(lane, push)
    if (!('kind' in pool)) await pool.ready(push)
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closing = true
    clearInterval(this.#timer)
    for (const lane of this.#lanes.values())
      for (const { push, done } of lane.waiting.splice(0)) this.#answer(push, done, closed())
    await Promise.all([...this.#pools.values()].map((pool) => pool.close(deadlineMs)))
  }

  stats() {
    const pools = [...this.#pools.values()]
    return { pools: pools.map((pool) => pool.stats()), sockets: this.#pools.sockets }
  }

  /** Only outcomes that have occurred. */
  #counted() {
    return Object.entries(this.#counts).flatMap(([gateway, kinds]) =>
      Object.entries(kinds)
        .filter(([, value]) => value > 0)
        .map(([outcome, value]) => ({ labels: { gateway, outcome }, value }))
    )
  }

  #inFlight(): Record<GatewayName, number> {
    const by: Record<GatewayName, number> = { apns: 0, fcm: 0, webpush: 0 }
    for (const pool of this.#pools.values()) by[pool.credential.gateway] += pool.stats().inFlight
    return by
  }

  #open(): Record<GatewayName, number> {
    const by = { apns: new Set<string>(), fcm: new Set<string>(), webpush: new Set<string>() }
    for (const { credential, suspended } of this.#pools.values())
      if (suspended) by[credential.gateway].add(`${credential.projectId} ${credential.id}`)
    return { apns: by.apns.size, fcm: by.fcm.size, webpush: by.webpush.size }
  }

  #answerLater(push: Push, done: Done, outcome: Outcome): void {
    setImmediate(() => this.#answer(push, done, outcome))
  }

  /** The outcome of a push that no pool has taken. */
  #answer({ gateway }: Push, done: Done, outcome: Outcome): void {
    this.#counts[gateway][outcome.kind] += 1
    done(outcome)
  }

  #laneOf(push: Push): Lane {
    const { projectId, gateway, environment, app } = push
    const last = this.#lastLane
    // Pushes of a campaign follow each other, and comparing is cheaper than making a key.
    if (
      last?.projectId === projectId &&
      last.gateway === gateway &&
      last.environment === environment &&
      last.app === app
    )
      return last
    const key = `${projectId} ${gateway} ${environment} ${app ?? ''}`
    let lane = this.#lanes.get(key)
    if (!lane) {
      const facts = { projectId, gateway, environment, app }
      lane = { ...facts, credential: null, foundAt: 0, finding: undefined, usedAt: 0, waiting: [], pools: new Map() }
      this.#lanes.set(key, lane)
    }
    this.#lastLane = lane
    return lane
  }

  async #find(lane: Lane, { projectId, gateway, environment, app }: Push): Promise<void> {
    const { credentials, log } = this.#options
    try {
      const found = credentials.find(projectId, gateway, environment, app)
      this.#replace(lane, await within(found, this.#settings.deadlineMs / 2))
      lane.foundAt = steadyMs()
    } catch (error) {
      log.warn({ error, project: projectId, gateway }, 'the credential of a project cannot be read')
      for (const { push, done } of lane.waiting.splice(0)) this.#answer(push, done, unread())
      return
    } finally {
      lane.finding = undefined
    }
    for (const each of lane.waiting.splice(0)) this.#route(lane, each)
  }

  /** A saved credential has another version: requests with the old one may finish, and no new one starts. */
  #replace(lane: Lane, found: Credential | null): void {
    const before = lane.credential
    lane.credential = found
    if (before && found && isSame(before, found)) return
    lane.pools.clear()
    if (!before) return
    for (const pool of this.#pools.values()) {
      if (!isSame(pool.credential, before)) continue
      this.#pools.remove(pool)
      const waiting = pool.withdraw()
      void pool.close(this.#settings.deadlineMs)
      // Another app of the project may have another credential by now, and looks it up itself.
      for (const each of waiting)
        if (this.#laneOf(each.push) === lane) this.#route(lane, each)
        else this.#answer(each.push, each.done, giveBack('The credential of the project has changed.', 0))
    }
  }

  #route(lane: Lane, { push, done, since }: Withdrawn): void {
    const pool = this.#poolOf(lane, push)
    if ('kind' in pool) this.#answerLater(push, done, pool)
    else pool.submit(push, done, steadyMs(), since)
  }

  #poolOf(lane: Lane, push: Push): Pool | Outcome {
    const { credential } = lane
    if (!credential) return rejected('CREDENTIALS_MISSING')
    const gateway = gateways[credential.gateway]
    const origin = gateway.origin(push, credential)
    if (typeof origin !== 'string') return { ...origin }
    const known = lane.pools.get(origin)
    if (known && !known.closing) return known
    const key = `${credential.projectId} ${credential.id} ${credential.version} ${push.environment} ${origin}`
    let pool = this.#pools.get(key)
    if (!pool) {
      if (gateway.isUnlisted?.(origin) && !this.#pools.admitUnlisted(credential.projectId)) return crowded()
      pool = this.#newPool(key, credential, origin)
      this.#pools.add(pool)
    }
    // Closed pools stay in this map until it is full.
    if (lane.pools.size >= this.#settings.maxOrigins) lane.pools.clear()
    lane.pools.set(origin, pool)
    return pool
  }

  #newPool(key: string, credential: Credential, origin: string): Pool {
    const { providerTokens, senders = () => 1, isPaused = () => false, log } = this.#options
    const pool: Pool = new Pool({
      key,
      gateway: gateways[credential.gateway],
      credential,
      origin,
      transport: this.#transport,
      providerToken: (refused) =>
        credential.gateway === 'webpush' ? Promise.resolve('') : providerTokens.of(credential, refused),
      settings: this.#settings,
      guard: this.#guardOf(credential),
      // The simulator has no quota, or responds with one itself.
      perSecond: () =>
        credential.gateway === 'fcm' && !credential.simulated ? this.#settings.fcmPerSecond / senders() : 0,
      admitSocket: () => this.#pools.admitSocket(pool),
      releaseSocket: () => this.#pools.releaseSocket(pool),
      isPaused: () => isPaused(credential.projectId),
      count: (kind) => {
        this.#counts[credential.gateway][kind] += 1
      },
      log
    })
    return pool
  }

  /** A guard outlives its pools, so that a proven credential stays proven after an hour without pushes. */
  #guardOf({ projectId, id, version }: Credential): Guard {
    const key = `${projectId} ${id} ${version}`
    const guard = this.#guards.get(key) ?? createGuard()
    this.#guards.delete(key)
    this.#guards.set(key, guard)
    const [oldest] = this.#guards.keys()
    if (this.#guards.size > mostGuards) this.#guards.delete(oldest!)
    return guard
  }

  #tick(): void {
    const now = steadyMs()
    const { idleMs } = this.#settings
    this.#ticks += 1
    // The timer keeps the process alive while a caller waits for an outcome, and not otherwise.
    this.#busy =
      [...this.#pools.values()].some((pool) => !pool.idle) ||
      [...this.#lanes.values()].some((lane) => lane.waiting.length > 0)
    if (!this.#busy) this.#timer.unref()
    for (const pool of this.#pools.values()) {
      // Few of thousands of projects are busy, so idle pools get only every tenth tick.
      if (pool.idle && this.#ticks % 10 !== 0) continue
      pool.tick(now)
      if (pool.idle && now - pool.usedAt >= idleMs) this.#pools.drop(pool)
    }
    for (const [key, lane] of this.#lanes)
      if (lane.waiting.length === 0 && now - lane.usedAt > idleMs) {
        this.#lanes.delete(key)
        if (this.#lastLane === lane) this.#lastLane = undefined
      }
  }
}

export const createSender = (options: SenderOptions): GatewaySender => new GatewaySender(options)

const isSame = (a: Credential, b: Credential) => a.projectId === b.projectId && a.id === b.id && a.version === b.version

const giveBack = (message: string, waitMs: number) => retry('GATEWAY_UNAVAILABLE', steadyMs() + waitMs, { message })
const unread = () => giveBack('The credential of the project cannot be read at the moment.', 2_000)
/** Long enough that thousands of invented push services, each tried again and again, do not keep the database busy. */
const crowded = () => giveBack('The project sends to too many push services at a time.', 10_000)

function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
