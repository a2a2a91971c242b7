import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Credential } from '../credentials/credential.ts'
import { type Gateway, refused, type Verdict } from '../gateway.ts'
import type { Outcome, Push } from '../push.ts'
import type { Ending, H2Transport } from '../transport/transport.ts'
import { createBudget } from './budget.ts'
import { createCircuit } from './circuit.ts'
import { createConnections, type Link } from './connections.ts'
import { createGates } from './gates.ts'
import type { Guard } from './guard.ts'
import { createJudge, type Entry } from './judge.ts'
import { closed, rejected, retry, unknown } from './outcomes.ts'
import { createPresentedToken } from './presented-token.ts'
import { createQueue } from './queue.ts'
import { createRate } from './rate.ts'
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
  /** The quota of the gateway for this process; 0 where there is none. */
  perSecond: () => number
  admitSocket: () => boolean
  isPaused: () => boolean
  log: Log
}

export type Pool = ReturnType<typeof createPool>

const fewestQueued = 16
const patientRefusals = 3
const shortMs = 1_000
const overBudgetMs = 5_000
const pausedText = 'The project was paused.'

/** Everything on its way to one gateway for one credential: queue, window, connections, and when to hold back. */
export function createPool(options: PoolOptions) {
  const { gateway, credential, origin, settings, guard, log } = options
  const queue = createQueue()
  const rate = createRate(options.perSecond, settings.rampMs)
  const budget = createBudget()
  const window = createWindow(settings.firstWindow, settings.maxWindow)
  const circuit = createCircuit(settings.probeMs)
  const gates = createGates()
  /** For room in the queue: urgent ones come first. */
  const waiters = { urgent: [] as (() => void)[], others: [] as (() => void)[] }
  let inFlight = 0
  let closing = false
  let usedAt = steadyMs()
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
    onFailed(message, isRefused) {
      if (!isRefused)
        return giveBack(() => retry('GATEWAY_UNAVAILABLE', steadyMs() + 5 * shortMs, { message: sentence(message) }))
      for (const entry of takeAll()) refuseToken(entry, '', message)
    }
  })
  const { judge, refusal, refuseToken, suspended } = createJudge({
    credential,
    circuit,
    gates,
    guard,
    presented,
    log,
    end,
    again,
    giveBack
  })

  const queueLimit = () => {
    const able = connections.size > 0 ? Math.min(window.size, connections.capacity()) : window.size
    return Math.max(fewestQueued, 2 * able)
  }

  /** Urgent ones are counted apart: a campaign that fills the queue takes no room of theirs. */
  const full = (push: Push) => (push.urgent ? queue.urgentSize : queue.size) >= queueLimit() && !closing

  function end(entry: Entry, outcome: Outcome) {
    usedAt = steadyMs()
    entry.done(outcome)
  }

  function takeAll(): Entry[] {
    const waiting = queue.all()
    queue.clear()
    return waiting
  }

  function giveBack(outcome: () => Outcome) {
    for (const entry of takeAll()) end(entry, outcome())
  }

  /** Why a push need not even try now. */
  function heldBack(push: Push, now: number): Outcome | undefined {
    if (closing) return closed()
    if (Date.now() > push.notAfter) return rejected('EXPIRED')
    const gate = gates.closed(push.token, now)
    if (gate) return retry(gate.reason, gate.until, { gatewayCode: gate.gatewayCode })
    const unreachable = connections.unreachable(now)
    if (unreachable && now < unreachable.nextAt) return away(unreachable)
    if (!circuit.admits(now)) return suspended()
    if (push.repeat && !budget.takes(now)) return overBudget(now)
    return undefined
  }

  const overBudget = (now: number) =>
    retry('GATEWAY_UNAVAILABLE', now + overBudgetMs, {
      message: 'Many pushes are tried again: this one waits its turn.'
    })

  const away = ({ message, nextAt }: { message: string; nextAt: number }) =>
    retry('GATEWAY_UNAVAILABLE', nextAt, { message: sentence(`${origin} cannot be reached: ${message}`) })

  /** `since`: when it was given to the sender, if that was not now. */
  function submit(push: Push, done: (outcome: Outcome) => void, since?: number): void {
    const now = steadyMs()
    usedAt = now
    const held = heldBack(push, now)
    if (held) return void setImmediate(done, held)
    const dueAt = (since ?? now) + settings.deadlineMs
    const leaveAt = Math.min(dueAt - settings.deadlineMs / 2, now + push.notAfter - Date.now())
    queue.add({
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
    pump()
  }

  function pump() {
    if (pumping) return
    pumping = true
    if (queue.size > 0) connections.want()
    try {
      while (queue.size > 0 && inFlight < window.size && steadyMs() >= pausedUntil && presented.ready()) {
        if (options.isPaused()) break
        const link = connections.pick()
        if (!link || !rate.takes(steadyMs())) break
        send(queue.take()!, link)
      }
    } finally {
      pumping = false
    }
    if (waiters.urgent.length + waiters.others.length > 0) wakeWaiters()
  }

  /** As many as there is room for, so that a thousand do not run for one place. */
  function wakeWaiters() {
    const limit = queueLimit()
    const roomFor = (queued: number) => (closing ? Number.POSITIVE_INFINITY : queued > limit / 2 ? 0 : limit - queued)
    for (const wake of waiters.urgent.splice(0, roomFor(queue.urgentSize))) wake()
    for (const wake of waiters.others.splice(0, roomFor(queue.size))) wake()
  }

  function send(entry: Entry, link: Link) {
    let outcome: Outcome | undefined
    try {
      outcome = request(entry, link)
    } catch (error) {
      // Nesting that JSON cannot write is the caller's; anything else is a bug of ours, and must not stop the others.
      const deep = error instanceof RangeError
      outcome = deep ? rejected('PAYLOAD_INVALID', 'The content is nested too deeply.') : rejected('INTERNAL_ERROR')
      if (!deep) complain(error, 'a push cannot be sent')
    }
    if (outcome) end(entry, outcome)
  }

  function request(entry: Entry, link: Link): Outcome | undefined {
    const now = steadyMs()
    const token = presented.value
    const prepared = gateway.prepare(entry.push, credential, token, Date.now())
    if ('kind' in prepared) return refusal(prepared, Date.now())
    entry.sentAt = now
    entry.sentWallMs = Date.now()
    if (!entry.push.repeat) budget.fresh(now)
    link.connection.request(prepared.headers, prepared.body, entry.dueAt, (ending) => {
      inFlight -= 1
      finish(entry, link, token, ending)
      pump()
    })
    inFlight += 1
    return undefined
  }

  function finish(entry: Entry, link: Link, token: string, ending: Ending) {
    const now = steadyMs()
    switch (ending.kind) {
      case 'answer': {
        connections.answered(link, ending.status, now)
        const verdict = read(entry.push, ending)
        if (verdict.kind === 'retry' && verdict.pushback) pushback(now)
        else window.answered(now - entry.sentAt, inFlight, now)
        if (verdict.kind === 'accepted' && entry.push.repeat) budget.worked(now)
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
        return end(entry, unknown('CONNECTION_LOST'))
      case 'timeout': {
        pushback(now)
        // Nothing at all since this one was sent: whoever comes next had better take another connection.
        if (link.heardAt <= entry.sentAt || link.answers === 0) link.connection.drain()
        return end(entry, unknown('GATEWAY_TIMEOUT'))
      }
    }
  }

  function pushback(now: number) {
    window.pushback(now)
    rate.pushback(now)
  }

  /** No answer, however odd, may end more than its push. */
  function read(push: Push, { status, headers, body }: Extract<Ending, { kind: 'answer' }>): Verdict {
    try {
      return gateway.read(push, status, headers, body)
    } catch (error) {
      complain(error, 'the answer of a gateway cannot be read')
      return refused('INTERNAL_ERROR', String(status))
    }
  }

  const complain = (error: unknown, what: string) =>
    log.error({ error, project: credential.projectId, gateway: credential.gateway }, what)

  /** Once more, at no cost: the gateway has done nothing with it. */
  function again(entry: Entry, message: string, gatewayCode = '') {
    const now = steadyMs()
    if (closing || now >= entry.leaveAt)
      end(entry, retry('GATEWAY_UNAVAILABLE', now + shortMs, { message, gatewayCode }))
    else if (circuit.open) end(entry, suspended(gatewayCode))
    else queue.add(entry)
  }

  /** Gives back what has waited too long. */
  function tick(now: number) {
    connections.tick(now)
    if (queue.size > 0 && options.isPaused()) giveBack(() => retry('GATEWAY_UNAVAILABLE', now, { message: pausedText }))
    const unreachable = connections.unreachable(now)
    for (const entry of queue.all()) {
      if ((!unreachable && now < entry.leaveAt) || !queue.delete(entry)) continue
      if (Date.now() >= entry.push.notAfter) end(entry, rejected('EXPIRED'))
      else if (unreachable) end(entry, away(unreachable))
      else end(entry, retry('GATEWAY_UNAVAILABLE', now + shortMs, { message: 'The gateway takes pushes too slowly.' }))
    }
    pump()
  }

  return {
    credential,
    origin,
    tick,
    submit,
    full,
    ready: (push: Push) =>
      full(push)
        ? new Promise<void>((wake) => (push.urgent ? waiters.urgent : waiters.others).push(wake))
        : Promise.resolve(),
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
      perSecond: rate.limit(steadyMs()),
      suspended: circuit.open
    }),
    /** Takes out what waits, for another pool to send. */
    withdraw(): { push: Push; done: (outcome: Outcome) => void; since: number }[] {
      return takeAll().map(({ push, done, dueAt }) => ({ push, done, since: dueAt - settings.deadlineMs }))
    },
    /** Gives back what waits, lets the gateway answer what it has, and cuts the rest at the deadline. */
    async close(deadlineMs: number): Promise<void> {
      closing = true
      const now = steadyMs()
      giveBack(closed)
      pump()
      connections.drainAll()
      while (inFlight > 0 && steadyMs() - now < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 10))
      connections.closeAll('the sender was closed')
    }
  }
}

const sentence = (text: string) => (text.endsWith('.') ? text : `${text}.`)
