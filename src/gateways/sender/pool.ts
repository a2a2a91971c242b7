import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential } from '../credentials/credential.ts'
import { type Gateway, refused, type Verdict } from '../gateway.ts'
import type { Outcome, Push } from '../push.ts'
import type { Ending, H2Transport } from '../transport/transport.ts'
import { type Budget, createBudget } from './budget.ts'
import { type Circuit, createCircuit } from './circuit.ts'
import { Connections, type Link } from './connections.ts'
import { createGates, type Gates } from './gates.ts'
import type { Guard } from './guard.ts'
import { type Entry, Judge } from './judge.ts'
import { closed, rejected, retry, unknown } from './outcomes.ts'
import { createPresentedToken, type PresentedToken } from './presented-token.ts'
import { createQueue, type Queue } from './queue.ts'
import { createRate, type Rate } from './rate.ts'
import type { SenderSettings } from './settings.ts'
import { createWindow, type Window } from './window.ts'

export interface PoolOptions {
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
  isPaused: () => boolean
  log: Log
}

const fewestQueued = 16
const patientRefusals = 3
const shortMs = 1_000
const overBudgetMs = 5_000
const pausedText = 'The project was paused.'

type Done = (outcome: Outcome) => void

/** A push that leaves the pool unsent, for another pool. */
export interface Withdrawn {
  push: Push
  done: Done
  since: number
}

/** All pushes to one gateway with one credential: queue, window, connections, and the reasons to wait. */
export class Pool {
  readonly credential: Credential
  readonly origin: string
  readonly #options: PoolOptions
  readonly #settings: SenderSettings
  readonly #queue: Queue = createQueue()
  readonly #rate: Rate
  readonly #budget: Budget = createBudget()
  readonly #window: Window
  readonly #circuit: Circuit
  readonly #gates: Gates = createGates()
  readonly #connections: Connections
  readonly #presented: PresentedToken
  readonly #judge: Judge
  /** Callers that wait for room in the queue; urgent ones come first. */
  readonly #waiters = { urgent: [] as (() => void)[], others: [] as (() => void)[] }
  #inFlight = 0
  #closing = false
  #usedAt = steadyMs()
  #pumping = false
  #pausedUntil = 0

  constructor(options: PoolOptions) {
    const { credential, origin, settings, guard, log } = options
    this.credential = credential
    this.origin = origin
    this.#options = options
    this.#settings = settings
    this.#rate = createRate(options.perSecond, settings.rampMs)
    this.#window = createWindow(settings.firstWindow, settings.maxWindow)
    this.#circuit = createCircuit(settings.probeMs)
    this.#connections = new Connections({
      transport: options.transport,
      origin,
      tls: {
        ...(credential.ca && { ca: credential.ca }),
        publicOnly: credential.gateway === 'webpush' && !credential.simulated
      },
      settings,
      admit: options.admitSocket,
      busy: () => !this.idle,
      onChange: () => this.#pump()
    })
    this.#presented = createPresentedToken(options.providerToken, settings.deadlineMs, {
      onReady: () => this.#pump(),
      onFailed: (message, isRefused) => this.#tokenFailed(message, isRefused)
    })
    this.#judge = new Judge({
      credential,
      circuit: this.#circuit,
      gates: this.#gates,
      guard,
      presented: this.#presented,
      log,
      end: (entry, outcome) => this.#end(entry, outcome),
      again: (entry, message, gatewayCode) => this.#again(entry, message, gatewayCode),
      giveBack: (outcome) => this.#giveBack(outcome)
    })
  }

  get closing(): boolean {
    return this.#closing
  }

  get idle(): boolean {
    return this.#queue.size + this.#inFlight === 0
  }

  get usedAt(): number {
    return this.#usedAt
  }

  get sockets(): number {
    return this.#connections.sockets
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
      inFlight: this.#inFlight,
      queued: this.#queue.size,
      window: this.#window.size,
      perSecond: this.#rate.limit(steadyMs()),
      suspended: this.#circuit.open
    }
  }

  /** Urgent pushes are counted separately: a campaign that fills the queue takes none of their room. */
  full(push: Push): boolean {
    return (push.urgent ? this.#queue.urgentSize : this.#queue.size) >= this.#queueLimit() && !this.#closing
  }

  ready(push: Push): Promise<void> {
    if (!this.full(push)) return Promise.resolve()
    const { urgent, others } = this.#waiters
    return new Promise<void>((wake) => (push.urgent ? urgent : others).push(wake))
  }

  /** `since`: the time when the sender accepted the push, if that was earlier. */
  submit(push: Push, done: Done, since?: number): void {
    const now = steadyMs()
    this.#usedAt = now
    const held = this.#heldBack(push, now)
    if (held) return void setImmediate(done, held)
    const { deadlineMs } = this.#settings
    const dueAt = (since ?? now) + deadlineMs
    const leaveAt = Math.min(dueAt - deadlineMs / 2, now + push.notAfter - Date.now())
    this.#queue.add({
      push,
      done,
      dueAt,
      leaveAt,
      sentAt: 0,
      sentWallMs: 0,
      refusals: 0,
      renewed: undefined,
      reconnected: false
    })
    this.#pump()
  }

  /** Returns pushes that have waited too long to their callers. */
  tick(now: number): void {
    this.#connections.tick(now)
    if (this.#queue.size > 0 && this.#options.isPaused())
      this.#giveBack(() => retry('GATEWAY_UNAVAILABLE', now, { message: pausedText }))
    const unreachable = this.#connections.unreachable(now)
    for (const entry of this.#queue.all()) {
      if ((!unreachable && now < entry.leaveAt) || !this.#queue.delete(entry)) continue
      if (Date.now() >= entry.push.notAfter) this.#end(entry, rejected('EXPIRED'))
      else if (unreachable) this.#end(entry, this.#away(unreachable))
      else this.#end(entry, later(now, 'The gateway takes pushes too slowly.'))
    }
    this.#pump()
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
    this.#pump()
    this.#connections.drainAll()
    while (this.#inFlight > 0 && steadyMs() - now < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 10))
    this.#connections.closeAll('the sender was closed')
  }

  #queueLimit(): number {
    const { size } = this.#window
    const able = this.#connections.size > 0 ? Math.min(size, this.#connections.capacity()) : size
    return Math.max(fewestQueued, 2 * able)
  }

  #end(entry: Entry, outcome: Outcome): void {
    this.#usedAt = steadyMs()
    entry.done(outcome)
  }

  #takeAll(): Entry[] {
    const waiting = this.#queue.all()
    this.#queue.clear()
    return waiting
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
  #heldBack(push: Push, now: number): Outcome | undefined {
    if (this.#closing) return closed()
    if (Date.now() > push.notAfter) return rejected('EXPIRED')
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

  /** Sends as many queued pushes as window, rate and connections allow. */
  #pump() {
    if (this.#pumping) return
    this.#pumping = true
    if (this.#queue.size > 0) this.#connections.want()
    try {
      while (this.#maySend()) {
        if (this.#options.isPaused()) break
        const link = this.#connections.pick()
        if (!link || !this.#rate.takes(steadyMs())) break
        this.#send(this.#queue.take()!, link)
      }
    } finally {
      this.#pumping = false
    }
    if (this.#waiters.urgent.length + this.#waiters.others.length > 0) this.#wakeWaiters()
  }

  #maySend(): boolean {
    if (this.#queue.size === 0 || this.#inFlight >= this.#window.size) return false
    return steadyMs() >= this.#pausedUntil && this.#presented.ready()
  }

  /** Wakes as many callers as there is room for, so that a thousand do not compete for one place. */
  #wakeWaiters() {
    const limit = this.#queueLimit()
    const roomFor = (queued: number) =>
      this.#closing ? Number.POSITIVE_INFINITY : queued > limit / 2 ? 0 : limit - queued
    for (const wake of this.#waiters.urgent.splice(0, roomFor(this.#queue.urgentSize))) wake()
    for (const wake of this.#waiters.others.splice(0, roomFor(this.#queue.size))) wake()
  }

  #send(entry: Entry, link: Link) {
    let outcome: Outcome | undefined
    try {
      outcome = this.#request(entry, link)
    } catch (error) {
      // Nesting that JSON cannot write is a mistake of the caller. Any other error is a bug here, and must not stop
      // other pushes.
      const deep = error instanceof RangeError
      outcome = deep ? rejected('PAYLOAD_INVALID', 'The content is nested too deeply.') : rejected('INTERNAL_ERROR')
      if (!deep) this.#complain(error, 'a push cannot be sent')
    }
    if (outcome) this.#end(entry, outcome)
  }

  /** Returns an outcome if the push cannot be sent at all. */
  #request(entry: Entry, link: Link): Outcome | undefined {
    const now = steadyMs()
    const token = this.#presented.value
    const prepared = this.#options.gateway.prepare(entry.push, this.credential, token, Date.now())
    if ('kind' in prepared) return this.#judge.refusal(prepared, Date.now())
    entry.sentAt = now
    entry.sentWallMs = Date.now()
    if (!entry.push.repeat) this.#budget.fresh(now)
    link.connection.request(prepared.headers, prepared.body, entry.dueAt, (ending) => {
      this.#inFlight -= 1
      this.#finish(entry, link, token, ending)
      this.#pump()
    })
    this.#inFlight += 1
    return undefined
  }

  #finish(entry: Entry, link: Link, token: string, ending: Ending) {
    const now = steadyMs()
    switch (ending.kind) {
      case 'answer': {
        this.#connections.answered(link, ending.status, now)
        const verdict = this.#read(entry.push, ending)
        if (verdict.kind === 'retry' && verdict.pushback) this.#pushback(now)
        else this.#window.answered(now - entry.sentAt, this.#inFlight, now)
        if (verdict.kind === 'accepted' && entry.push.repeat) this.#budget.worked(now)
        return this.#judge.judge(entry, link, token, verdict)
      }
      case 'refused': {
        entry.refusals += 1
        // The peer refused a stream on a connection that stays open. Once may be a limit that changed on the way; more
        // often means that it accepts fewer at a time.
        if (link.connection.state === 'ready' && entry.refusals > 1) {
          this.#window.pushback(now)
          if (entry.refusals > patientRefusals) this.#pausedUntil = now + this.#settings.tickMs
        }
        return this.#again(entry, 'The gateway refuses requests on its connections.')
      }
      case 'lost':
        return this.#end(entry, unknown('CONNECTION_LOST'))
      case 'timeout': {
        this.#pushback(now)
        // The connection has been silent since this push was sent: the next ones take another.
        if (link.heardAt <= entry.sentAt || link.answers === 0) link.connection.drain()
        return this.#end(entry, unknown('GATEWAY_TIMEOUT'))
      }
    }
  }

  #pushback(now: number): void {
    this.#window.pushback(now)
    this.#rate.pushback(now)
  }

  /** No response, however unusual, may end more than its own push. */
  #read(push: Push, { status, headers, body }: Extract<Ending, { kind: 'answer' }>): Verdict {
    try {
      return this.#options.gateway.read(push, status, headers, body)
    } catch (error) {
      this.#complain(error, 'the answer of a gateway cannot be read')
      return refused('INTERNAL_ERROR', String(status))
    }
  }

  #complain(error: unknown, what: string): void {
    const { projectId: project, gateway } = this.credential
    this.#options.log.error({ error, project, gateway }, what)
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
