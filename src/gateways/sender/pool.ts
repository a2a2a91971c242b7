import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential } from '../credentials/credential.ts'
import type { Gateway } from '../gateway.ts'
import type { Outcome, Push } from '../push.ts'
import type { H2Transport } from '../transport/transport.ts'
import { Connections } from './connections.ts'
import { type Done, Entry } from './entry.ts'
import { Judge } from './judge.ts'
import { type Budget, createBudget } from './limits/budget.ts'
import { type Circuit, createCircuit } from './limits/circuit.ts'
import { createGates, type Gates } from './limits/gates.ts'
import type { Guard } from './limits/guard.ts'
import { createRate, type Rate } from './limits/rate.ts'
import { createWindow, type Window } from './limits/window.ts'
import { closed, rejected, retry } from './outcomes.ts'
import { createPresentedToken } from './presented-token.ts'
import { Pump } from './pump.ts'
import { createQueue, type Queue } from './queue.ts'
import type { SenderSettings } from './settings.ts'
import { Waiters } from './waiters.ts'

export interface PoolOptions {
  /** Its name among the pools of the process. */
  key: string
  gateway: Gateway
  credential: Credential
  origin: string
  transport: H2Transport
  /**
   * Returns the token to present, or the successor of one that the gateway refused; '' for gateways without provider
   * tokens.
   */
  providerToken: (refused?: string) => Promise<string>
  settings: SenderSettings
  guard: Guard
  /** The gateway's quota for this process; 0 means no quota. */
  perSecond: () => number
  admitSocket: () => boolean
  releaseSocket: () => void
  isPaused: () => boolean
  /** Counts the outcome of a push. */
  count: (kind: Outcome['kind']) => void
  log: Log
}

const fewestQueued = 16
/** More would wait longer for nothing: callers refill the queue at once. Old objects are what makes garbage costly. */
const mostQueued = 512
const shortMs = 1_000
const overBudgetMs = 5_000
const pausedText = 'The project was paused.'

/** A push that leaves the pool unsent, for another pool. */
export interface Withdrawn {
  push: Push
  done: Done
  since: number
}

/** All pushes to one gateway with one credential: queue, window, connections, and the reasons to wait. */
export class Pool {
  readonly key: string
  readonly credential: Credential
  readonly origin: string
  /** Whether devices could make up any number of such origins. */
  readonly isUnlisted: boolean
  readonly #options: PoolOptions
  readonly #settings: SenderSettings
  readonly #queue: Queue = createQueue()
  readonly #waiters = new Waiters()
  readonly #rate: Rate
  readonly #budget: Budget = createBudget()
  readonly #window: Window
  readonly #circuit: Circuit
  readonly #gates: Gates = createGates()
  readonly #connections: Connections
  readonly #judge: Judge
  readonly #pump: Pump
  #closing = false
  #usedAt = steadyMs()

  constructor(options: PoolOptions) {
    const { key, gateway, credential, origin, settings, isPaused, guard, log } = options
    this.key = key
    this.credential = credential
    this.origin = origin
    this.isUnlisted = gateway.isUnlisted?.(origin) ?? false
    this.#options = options
    this.#settings = settings
    this.#rate = createRate(options.perSecond, settings.rampMs)
    this.#window = createWindow(settings.firstWindow, settings.maxWindow)
    this.#circuit = createCircuit(settings.probeMs)
    this.#connections = this.#connectionsOf(options)
    const presented = createPresentedToken(options.providerToken, settings.deadlineMs, {
      onReady: () => this.#pump.schedule(),
      onFailed: (message, isRefused) => this.#tokenFailed(message, isRefused)
    })
    const end = (entry: Entry, outcome: Outcome) => this.#end(entry, outcome)
    const again = (entry: Entry, message: string, gatewayCode = '') => this.#again(entry, message, gatewayCode)
    this.#judge = new Judge({
      credential,
      circuit: this.#circuit,
      gates: this.#gates,
      guard,
      presented,
      log,
      end,
      again,
      giveBack: (outcome) => this.#giveBack(outcome)
    })
    this.#pump = new Pump({
      gateway,
      credential,
      settings,
      queue: this.#queue,
      window: this.#window,
      rate: this.#rate,
      budget: this.#budget,
      connections: this.#connections,
      presented,
      judge: this.#judge,
      isPaused,
      log,
      end,
      again,
      onRoom: () => this.#wakeWaiters()
    })
  }

  get closing(): boolean {
    return this.#closing
  }

  get idle(): boolean {
    return this.#queue.size + this.#pump.inFlight === 0
  }

  /** Whether the pool may be closed to make room: it has nothing to send, and closing it frees its sockets at once. */
  get dispensable(): boolean {
    return this.idle && !this.#closing && !this.#connections.opening
  }

  get usedAt(): number {
    return this.#usedAt
  }

  get sockets(): number {
    return this.#connections.sockets
  }

  /** Whether nothing is sent, because the gateway refuses the credential. */
  get suspended(): boolean {
    return this.#circuit.open
  }

  stats() {
    const { projectId, gateway, id: credentialId, version } = this.credential
    return {
      projectId,
      gateway,
      credentialId,
      version,
      origin: this.origin,
      connections: this.#connections.size,
      inFlight: this.#pump.inFlight,
      queued: this.#queue.size,
      window: this.#window.size,
      perSecond: this.#rate.limit(steadyMs()),
      suspended: this.suspended
    }
  }

  /** Urgent pushes are counted separately: a campaign that fills the queue takes none of their room. */
  full(push: Push): boolean {
    return (push.urgent ? this.#queue.urgentSize : this.#queue.size) >= this.#queueLimit() && !this.#closing
  }

  ready(push: Push): Promise<void> {
    return this.full(push) ? this.#waiters.wait(push.urgent === true) : Promise.resolve()
  }

  /** `since`: the time when the sender accepted the push, if that was earlier. */
  submit(push: Push, done: Done, now: number, since = now) {
    this.#usedAt = now
    const wallMs = Date.now()
    const { deadlineMs } = this.#settings
    const dueAt = since + deadlineMs
    const leaveAt = Math.min(dueAt - deadlineMs / 2, now + push.notAfter - wallMs)
    const entry = new Entry(push, done, dueAt, leaveAt, this.#pump)
    const held = this.#heldBack(push, now, wallMs)
    if (held) return void setImmediate(() => this.#end(entry, held))
    this.#queue.add(entry)
    this.#pump.schedule()
  }

  /** Returns pushes that have waited too long to their callers. */
  tick(now: number): void {
    this.#connections.tick(now)
    if (this.#queue.size > 0) {
      if (this.#options.isPaused()) this.#giveBack(() => retry('GATEWAY_UNAVAILABLE', now, { message: pausedText }))
      const unreachable = this.#connections.unreachable(now)
      for (const entry of this.#queue.takeIf(({ leaveAt }) => unreachable !== undefined || now >= leaveAt)) {
        if (Date.now() >= entry.push.notAfter) this.#end(entry, rejected('EXPIRED'))
        else if (unreachable) this.#end(entry, this.#away(unreachable))
        else this.#end(entry, later(now, 'The gateway takes pushes too slowly.'))
      }
    }
    this.#pump.schedule()
  }

  /** Removes waiting pushes, so that another pool can send them. */
  withdraw(): Withdrawn[] {
    const { deadlineMs } = this.#settings
    return this.#takeAll().map(({ push, done, dueAt }) => ({ push, done, since: dueAt - deadlineMs }))
  }

  /**
   * Returns waiting pushes to their callers, waits for the responses to the others, and cuts the rest at the deadline.
   */
  async close(deadlineMs: number): Promise<void> {
    this.#closing = true
    const now = steadyMs()
    this.#giveBack(closed)
    this.#pump.schedule()
    this.#connections.drainAll()
    while (this.#pump.inFlight > 0 && steadyMs() - now < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 10))
    this.#connections.closeAll('the sender was closed')
  }

  #connectionsOf({ transport, origin, credential, settings, admitSocket, releaseSocket }: PoolOptions): Connections {
    return new Connections({
      transport,
      origin,
      tls: {
        ...(credential.ca && { ca: credential.ca }),
        publicOnly: credential.gateway === 'webpush' && !credential.simulated
      },
      settings,
      admit: admitSocket,
      release: releaseSocket,
      busy: () => !this.idle,
      onChange: () => this.#pump.schedule()
    })
  }

  #wakeWaiters(): void {
    if (!this.#waiters.waiting) return
    this.#waiters.wake(this.#queue, this.#closing ? Number.POSITIVE_INFINITY : this.#queueLimit())
  }

  #queueLimit(): number {
    const { size } = this.#window
    const able = this.#connections.size > 0 ? Math.min(size, this.#connections.capacity()) : size
    return Math.max(fewestQueued, Math.min(mostQueued, 2 * able))
  }

  #end(entry: Entry, outcome: Outcome): void {
    this.#usedAt = this.#pump.now
    this.#options.count(outcome.kind)
    entry.done(outcome)
  }

  #takeAll(): Entry[] {
    return this.#queue.takeIf(() => true)
  }

  #giveBack(outcome: () => Outcome): void {
    for (const entry of this.#takeAll()) this.#end(entry, outcome())
  }

  #tokenFailed(message: string, isRefused: boolean) {
    if (!isRefused)
      return this.#giveBack(() =>
        retry('GATEWAY_UNAVAILABLE', steadyMs() + 5 * shortMs, { message: sentence(message) })
      )
    for (const entry of this.#takeAll()) this.#judge.refuseToken(entry, '', message)
  }

  /** The outcome of a push that is not even queued. */
  #heldBack(push: Push, now: number, wallMs: number): Outcome | undefined {
    if (this.#closing) return closed()
    if (wallMs > push.notAfter) return rejected('EXPIRED')
    const gate = this.#gates.closed(push.token, now)
    if (gate) return retry(gate.reason, gate.until, { gatewayCode: gate.gatewayCode })
    const unreachable = this.#connections.unreachable(now)
    if (unreachable && now < unreachable.nextAt) return this.#away(unreachable)
    if (!this.#circuit.admits(now)) return this.#judge.suspended()
    if (push.repeat && !this.#budget.takes(now)) return overBudget(now)
    return undefined
  }

  #away({ message, nextAt }: { message: string; nextAt: number }): Outcome {
    return retry('GATEWAY_UNAVAILABLE', nextAt, { message: sentence(`${this.origin} cannot be reached: ${message}`) })
  }

  /** Queues a push again without counting an attempt: the gateway has not acted on it. */
  #again(entry: Entry, message: string, gatewayCode = ''): void {
    const now = steadyMs()
    if (this.#closing || now >= entry.leaveAt) this.#end(entry, later(now, message, gatewayCode))
    else if (this.#circuit.open) this.#end(entry, this.#judge.suspended(gatewayCode))
    else this.#queue.add(entry)
  }
}

const later = (now: number, message: string, gatewayCode = '') =>
  retry('GATEWAY_UNAVAILABLE', now + shortMs, { message, gatewayCode })

const overBudget = (now: number) =>
  retry('GATEWAY_UNAVAILABLE', now + overBudgetMs, {
    message: 'Many pushes are tried again: this one waits its turn.'
  })

const sentence = (text: string) => (text.endsWith('.') ? text : `${text}.`)
