import type { Log } from '../../platform/log.ts'
import type { Credential } from '../credential.ts'
import { type Gateway, type Later, later, type Refused, type Verdict } from '../gateways/gateway.ts'
import type { Outcome, Push } from '../push.ts'
import { type FailureCode, failureReasons } from '../reasons.ts'
import type { Ending, H2Transport } from '../transport/transport.ts'
import { createCircuit } from './circuit.ts'
import { createConnections, type Link } from './connections.ts'
import { createGates } from './gates.ts'
import type { Guard } from './guard.ts'
import { createPresentedToken } from './presented-token.ts'
import type { SenderSettings } from './settings.ts'
import { createWindow } from './window.ts'

export interface PoolOptions {
  gateway: Gateway
  credential: Credential
  origin: string
  transport: H2Transport
  /** The token to present; of an older one that was refused, its successor. '' where the gateway has none. */
  providerToken: (refused?: string) => Promise<string>
  settings: SenderSettings
  guard: Guard
  admitSocket: () => boolean
  log: Log
}

/** One push on its way. */
interface Entry {
  readonly push: Push
  readonly done: (outcome: Outcome) => void
  readonly dueAt: number
  /** Not sent until then: it is given back. */
  readonly leaveAt: number
  sentAt: number
  refusals: number
  /** The provider token that was too old when it was sent the first time. */
  renewed: string | undefined
  reconnected: boolean
}

export type Pool = ReturnType<typeof createPool>

const fewestQueued = 16
const patientRefusals = 3
const shortMs = 1_000
const unrenewedMs = 30_000

/** Everything on its way to one gateway for one credential: queue, window, connections, and when to hold back. */
export function createPool(options: PoolOptions) {
  const { gateway, credential, origin, settings, guard, log } = options
  const queue = new Set<Entry>()
  const window = createWindow(settings.firstWindow, settings.maxWindow)
  const circuit = createCircuit(settings.probeMs)
  const gates = createGates()
  const waiters: (() => void)[] = []
  let inFlight = 0
  let closing = false
  let usedAt = Date.now()
  let pumping = false
  let pausedUntil = 0

  const connections = createConnections({
    transport: options.transport,
    origin,
    tls: {
      ...(credential.ca && { ca: credential.ca }),
      publicOnly: credential.gateway === 'webpush' && !credential.simulated
    },
    settings,
    admit: options.admitSocket,
    busy: () => queue.size + inFlight > 0,
    onChange: () => pump()
  })
  const presented = createPresentedToken(options.providerToken, settings.deadlineMs, {
    onReady: () => pump(),
    onFailed: (message, refused) => {
      for (const entry of queue) {
        queue.delete(entry)
        if (refused) refuseCredential(entry, '', message)
        else end(entry, retry('GATEWAY_UNAVAILABLE', message, '', Date.now() + 5 * shortMs, true))
      }
    }
  })

  const queueLimit = () => {
    const able = connections.size > 0 ? Math.min(window.size, connections.capacity()) : window.size
    return Math.max(fewestQueued, 2 * able)
  }

  function retry(reason: FailureCode, message: string, gatewayCode: string, at: number, free: boolean): Outcome {
    // Spread, so that those told the same time do not all come at it.
    const notBefore = Math.round(at + Math.random() * Math.min(0.2 * Math.max(0, at - Date.now()), 5 * shortMs))
    return { kind: 'retry', reason, message, gatewayCode, notBefore, free }
  }

  function end(entry: Entry, outcome: Outcome) {
    usedAt = Date.now()
    entry.done(outcome)
  }

  /** Why a push need not even try now. */
  function heldBack(push: Push, now: number): Outcome | undefined {
    if (closing) return retry('GATEWAY_UNAVAILABLE', 'The sender is being closed.', '', now, true)
    if (now > push.notAfter) return expired
    const gate = gates.closed(push.token, now)
    if (gate) return retry(gate.reason, failureReasons[gate.reason], gate.gatewayCode, gate.until, true)
    const unreachable = connections.unreachable(now)
    if (unreachable && now < unreachable.nextAt) return unreachableOutcome(unreachable)
    if (!circuit.admits(now)) return suspended()
    return undefined
  }

  const unreachableOutcome = ({ message, nextAt }: { message: string; nextAt: number }) =>
    retry('GATEWAY_UNAVAILABLE', `${origin} cannot be reached: ${message}.`, '', nextAt, true)

  /** The circuit is open. Not a rejection: with the right key all that waits is delivered. */
  const suspended = (code = '', message: string = failureReasons.CREDENTIALS_INVALID) =>
    retry('CREDENTIALS_INVALID', message, code, circuit.probeAt, true)

  function refuseCredential(entry: Entry, code: string, message?: string) {
    const before = circuit.open
    circuit.wrong(Date.now())
    if (circuit.open && !before) {
      log.warn(
        { project: credential.projectId, gateway: credential.gateway, credential: credential.id, reason: code },
        'the gateway refuses the credential: pushes wait until it is replaced'
      )
      for (const each of queue) {
        queue.delete(each)
        end(each, suspended(code, message))
      }
    }
    if (before || circuit.open) end(entry, suspended(code, message))
    else end(entry, rejected('CREDENTIALS_INVALID', message, code))
  }

  /** `since`: when it was given to the sender, if that was not now. */
  function submit(push: Push, done: (outcome: Outcome) => void, since?: number): void {
    const now = Date.now()
    usedAt = now
    const held = heldBack(push, now)
    if (held) return void setImmediate(done, held)
    const dueAt = (since ?? now) + settings.deadlineMs
    const leaveAt = Math.min(dueAt - settings.deadlineMs / 2, push.notAfter)
    queue.add({ push, done, dueAt, leaveAt, sentAt: 0, refusals: 0, renewed: undefined, reconnected: false })
    pump()
  }

  function pump() {
    if (pumping) return
    pumping = true
    if (queue.size > 0) connections.want()
    try {
      while (queue.size > 0 && inFlight < window.size && Date.now() >= pausedUntil && presented.ready()) {
        const link = connections.pick()
        if (!link) break
        const [entry] = queue
        queue.delete(entry!)
        send(entry!, link)
      }
    } finally {
      pumping = false
    }
    if (waiters.length > 0) wakeWaiters()
  }

  /** As many as there is room for, so that a thousand do not run for one place. */
  function wakeWaiters() {
    const limit = queueLimit()
    const room = closing ? waiters.length : queue.size > limit / 2 ? 0 : limit - queue.size
    for (const wake of waiters.splice(0, room)) wake()
  }

  function send(entry: Entry, link: Link) {
    let refusal: Outcome | undefined
    try {
      refusal = request(entry, link)
    } catch (error) {
      // Nesting that JSON cannot write is the caller's; anything else is a bug of ours, and must not stop the others.
      const deep = error instanceof RangeError
      refusal = deep ? rejected('PAYLOAD_INVALID', 'The content is nested too deeply.') : rejected('INTERNAL_ERROR')
      if (!deep)
        log.error({ err: error, project: credential.projectId, gateway: credential.gateway }, 'a push cannot be sent')
    }
    if (refusal) end(entry, refusal)
  }

  function request(entry: Entry, link: Link): Outcome | undefined {
    const now = Date.now()
    const token = presented.value
    const prepared = gateway.prepare(entry.push, credential, token, now)
    if ('kind' in prepared) return verdictOutcome(prepared, now)
    entry.sentAt = now
    link.connection.request(prepared.headers, prepared.body, entry.dueAt, (ending) => {
      inFlight -= 1
      finish(entry, link, token, ending)
      pump()
    })
    inFlight += 1
    return undefined
  }

  function finish(entry: Entry, link: Link, token: string, ending: Ending) {
    const now = Date.now()
    switch (ending.kind) {
      case 'answer': {
        connections.answered(link, now)
        const verdict = gateway.read(entry.push, ending.status, ending.headers, ending.body)
        if (verdict.kind === 'retry' && verdict.pushback) window.pushback(now)
        else window.answered(now - entry.sentAt, inFlight, now)
        return judge(entry, link, token, verdict)
      }
      case 'refused': {
        entry.refusals += 1
        // On a connection that stays: once may be a limit that changed on the way, more often means fewer at a time.
        if (link.connection.state === 'ready' && entry.refusals > 1) {
          window.pushback(now)
          if (entry.refusals > patientRefusals) pausedUntil = now + settings.tickMs
        }
        return again(entry, 'The gateway refuses requests on its connections.')
      }
      case 'lost':
        return end(entry, { kind: 'unknown', reason: 'CONNECTION_LOST', message: failureReasons.CONNECTION_LOST })
      case 'timeout': {
        window.pushback(now)
        // Nothing at all since this one was sent: whoever comes next had better take another connection.
        if (link.heardAt <= entry.sentAt || link.answers === 0) link.connection.drain()
        return end(entry, { kind: 'unknown', reason: 'GATEWAY_TIMEOUT', message: failureReasons.GATEWAY_TIMEOUT })
      }
    }
  }

  /** Once more, at no cost: the gateway has done nothing with it. */
  function again(entry: Entry, message: string, gatewayCode = '') {
    const now = Date.now()
    if (closing || now >= entry.leaveAt)
      end(entry, retry('GATEWAY_UNAVAILABLE', message, gatewayCode, now + shortMs, true))
    else if (circuit.open) end(entry, suspended(gatewayCode))
    else queue.add(entry)
  }

  function judge(entry: Entry, link: Link, token: string, verdict: Verdict): void {
    if (verdict.kind === 'accepted') {
      circuit.right()
      guard.accepted()
      end(entry, verdict)
    } else if (verdict.kind === 'rejected') judgeRefused(entry, verdict)
    else if (verdict.kind === 'retry') judgeLater(entry, verdict)
    else if (verdict.kind === 'renew') renew(entry, token, verdict.gatewayCode)
    else {
      link.connection.drain()
      if (entry.reconnected) judge(entry, link, token, verdict.otherwise)
      else {
        entry.reconnected = true
        again(entry, verdict.otherwise.message, verdict.otherwise.gatewayCode)
      }
    }
  }

  function judgeRefused(entry: Entry, verdict: Refused) {
    if (verdict.credentialWrong) return refuseCredential(entry, verdict.gatewayCode, verdict.message)
    if (verdict.reason !== 'CREDENTIALS_INVALID') circuit.right()
    if (verdict.tokenDead !== undefined) guard.tokenDead()
    end(entry, verdictOutcome(verdict, entry.sentAt))
  }

  function judgeLater(entry: Entry, verdict: Later) {
    const now = Date.now()
    if (verdict.scope !== 'push') holdBack(entry.push, verdict, now + verdict.afterMs)
    end(entry, retry(verdict.reason, verdict.message, verdict.gatewayCode, now + verdict.afterMs, false))
  }

  function renew(entry: Entry, token: string, code: string) {
    if (entry.renewed === undefined) {
      entry.renewed = token
      presented.renew(token)
      return again(entry, failureReasons.CREDENTIALS_INVALID, code)
    }
    if (entry.renewed !== token) return refuseCredential(entry, code)
    // Its owner may not make another so soon: Apple counts them.
    const verdict = later('GATEWAY_UNAVAILABLE', code, unrenewedMs, { scope: 'gateway' })
    judgeLater(entry, { ...verdict, message: 'The provider token is too old, and a newer one cannot be made yet.' })
  }

  function holdBack({ token }: Push, { scope, reason, gatewayCode }: Later, until: number) {
    gates.close(scope === 'device' ? token : undefined, { until, reason, gatewayCode })
    if (scope === 'device') return
    for (const entry of queue) {
      queue.delete(entry)
      end(entry, retry(reason, failureReasons[reason], gatewayCode, until, true))
    }
  }

  function verdictOutcome(verdict: Refused, sentAt: number): Outcome {
    const { tokenDead } = verdict
    const outcome = rejected(verdict.reason, verdict.message, verdict.gatewayCode)
    if (tokenDead === undefined || guard.holds) return outcome
    return { ...outcome, tokenDeadAsOf: new Date(tokenDead === 'now' ? sentAt : tokenDead) }
  }

  /** Gives back what has waited too long. */
  function tick(now: number) {
    connections.tick(now)
    const unreachable = connections.unreachable(now)
    for (const entry of queue) {
      if (!unreachable && now < entry.leaveAt) continue
      queue.delete(entry)
      if (now > entry.push.notAfter) end(entry, expired)
      else if (unreachable) end(entry, unreachableOutcome(unreachable))
      else end(entry, retry('GATEWAY_UNAVAILABLE', 'The gateway takes pushes too slowly.', '', now + shortMs, true))
    }
    pump()
  }

  return {
    credential,
    origin,
    tick,
    submit,
    get full() {
      return queue.size >= queueLimit() && !closing
    },
    ready: () =>
      queue.size < queueLimit() || closing ? Promise.resolve() : new Promise<void>((wake) => waiters.push(wake)),
    get closing() {
      return closing
    },
    get idle() {
      return queue.size + inFlight === 0
    },
    get usedAt() {
      return usedAt
    },
    get sockets() {
      return connections.sockets
    },
    stats: () => ({
      projectId: credential.projectId,
      gateway: credential.gateway,
      credentialId: credential.id,
      version: credential.version,
      origin,
      connections: connections.size,
      inFlight,
      queued: queue.size,
      window: window.size,
      suspended: circuit.open
    }),
    /** Takes out what waits, for another pool to send. */
    withdraw(): { push: Push; done: (outcome: Outcome) => void; since: number }[] {
      const waiting = [...queue].map(({ push, done, dueAt }) => ({ push, done, since: dueAt - settings.deadlineMs }))
      queue.clear()
      return waiting
    },
    /** Gives back what waits, lets the gateway answer what it has, and cuts the rest at the deadline. */
    async close(deadlineMs: number): Promise<void> {
      closing = true
      const now = Date.now()
      for (const entry of queue) {
        queue.delete(entry)
        end(entry, retry('GATEWAY_UNAVAILABLE', 'The sender is being closed.', '', now, true))
      }
      pump()
      connections.drainAll()
      while (inFlight > 0 && Date.now() - now < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 10))
      connections.closeAll('the sender was closed')
    }
  }
}

const expired: Outcome = {
  kind: 'rejected',
  reason: 'EXPIRED',
  message: failureReasons.EXPIRED,
  gatewayCode: ''
}

const rejected = (reason: FailureCode, message: string = failureReasons[reason], gatewayCode = '') =>
  ({ kind: 'rejected', reason, message, gatewayCode }) as const
