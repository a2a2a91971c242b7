import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential } from '../credentials/credential.ts'
import { type Gateway, refused, type Verdict } from '../gateway.ts'
import type { Outcome, Push } from '../push.ts'
import type { Ending } from '../transport/transport.ts'
import type { Connections, Link } from './connections.ts'
import type { Entry, EntryOwner } from './entry.ts'
import type { Judge } from './judge.ts'
import type { Budget } from './limits/budget.ts'
import type { Rate } from './limits/rate.ts'
import type { Window } from './limits/window.ts'
import { rejected, unknown } from './outcomes.ts'
import type { PresentedToken } from './presented-token.ts'
import type { Queue } from './queue.ts'
import type { SenderSettings } from './settings.ts'

export interface PumpOptions {
  gateway: Gateway
  credential: Credential
  settings: SenderSettings
  queue: Queue
  window: Window
  rate: Rate
  budget: Budget
  connections: Connections
  presented: PresentedToken
  judge: Judge
  isPaused: () => boolean
  log: Log
  end(entry: Entry, outcome: Outcome): void
  again(entry: Entry, message: string): void
  /** Called after each run: there may be room in the queue. */
  onRoom(): void
}

const patientRefusals = 3

/**
 * Sends queued pushes and takes their responses. It runs once after everything that arrived together, not once for each
 * push: a run reads the clocks once, and the transport writes what a run sends at once.
 */
export class Pump implements EntryOwner {
  readonly #options: PumpOptions
  readonly #run: () => void
  #scheduled = false
  #inFlight = 0
  #pausedUntil = 0
  #now = 0

  constructor(options: PumpOptions) {
    this.#options = options
    this.#run = () => this.#runNow()
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** The steady clock, read once between two runs. */
  get now(): number {
    if (!this.#scheduled) this.schedule()
    return this.#now
  }

  /** Sends as many queued pushes as window, rate and connections allow, soon: as a microtask. */
  schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#now = steadyMs()
    queueMicrotask(this.#run)
  }

  ended(entry: Entry, ending: Ending): void {
    this.#inFlight -= 1
    this.#finish(entry, entry.link!, ending, this.now)
  }

  #runNow(): void {
    this.#scheduled = false
    const { queue, connections, rate, presented, isPaused, onRoom } = this.#options
    if (queue.size > 0) {
      connections.want()
      const now = steadyMs()
      if (now >= this.#pausedUntil && presented.ready() && !isPaused()) {
        const wallMs = Date.now()
        const token = presented.value
        while (queue.size > 0 && this.#inFlight < this.#options.window.size) {
          const link = connections.pick()
          if (!link || !rate.takes(now)) break
          this.#send(queue.take()!, link, token, now, wallMs)
        }
      }
    }
    onRoom()
  }

  #send(entry: Entry, link: Link, token: string, now: number, wallMs: number): void {
    let outcome: Outcome | undefined
    try {
      outcome = this.#request(entry, link, token, now, wallMs)
    } catch (error) {
      // Nesting that JSON cannot write is a mistake of the caller. Any other error is a bug here, and must not stop
      // other pushes.
      const deep = error instanceof RangeError
      outcome = deep ? rejected('PAYLOAD_INVALID', 'The content is nested too deeply.') : rejected('INTERNAL_ERROR')
      if (!deep) this.#complain(error, 'a push cannot be sent')
    }
    if (outcome) this.#options.end(entry, outcome)
  }

  /** Returns an outcome if the push cannot be sent at all. */
  #request(entry: Entry, link: Link, token: string, now: number, wallMs: number): Outcome | undefined {
    const { gateway, credential, judge, budget } = this.#options
    const prepared = gateway.prepare(entry.push, credential, token, wallMs)
    if ('kind' in prepared) return judge.refusal(prepared, wallMs)
    entry.sentAt = now
    entry.sentWallMs = wallMs
    entry.link = link
    entry.token = token
    if (!entry.push.repeat) budget.fresh(now)
    link.connection.request(prepared, entry.dueAt, entry)
    this.#inFlight += 1
    return undefined
  }

  #finish(entry: Entry, link: Link, ending: Ending, now: number) {
    const { window, connections, budget, judge, end, again } = this.#options
    switch (ending.kind) {
      case 'answer': {
        connections.answered(link, ending.status, now)
        const verdict = this.#read(entry.push, ending)
        if (verdict.kind === 'retry' && verdict.pushback) this.#pushback(now)
        else window.answered(now - entry.sentAt, this.#inFlight, now)
        if (verdict.kind === 'accepted' && entry.push.repeat) budget.worked(now)
        return judge.judge(entry, link, entry.token, verdict)
      }
      case 'refused':
        this.#refusedOnce(entry, link, now)
        return again(entry, 'The gateway refuses requests on its connections.')
      case 'lost':
        return end(entry, unknown('CONNECTION_LOST'))
      case 'timeout': {
        this.#pushback(now)
        // The connection has been silent since this push was sent: the next ones take another.
        if (link.heardAt <= entry.sentAt || link.answers === 0) link.connection.drain()
        return end(entry, unknown('GATEWAY_TIMEOUT'))
      }
    }
  }

  /**
   * The peer refused a stream. On a connection that stays open, once may be a limit that changed on the way; more often
   * means that it accepts fewer at a time.
   */
  #refusedOnce(entry: Entry, link: Link, now: number): void {
    const { window, settings } = this.#options
    entry.refusals += 1
    if (link.connection.state !== 'ready' || entry.refusals <= 1) return
    window.pushback(now)
    if (entry.refusals > patientRefusals) this.#pausedUntil = now + settings.tickMs
  }

  #pushback(now: number): void {
    this.#options.window.pushback(now)
    this.#options.rate.pushback(now)
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
    const { credential, log } = this.#options
    const { projectId: project, gateway } = credential
    log.error({ error, project, gateway }, what)
  }
}
