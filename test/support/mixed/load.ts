import { setTimeout as sleep } from 'node:timers/promises'
import { agentOf, toldState } from '../../a2a/agent.ts'
import { ask, type Json, type Reply } from '../http.ts'

export const project = 'shop'
export const secretKey = 'svc_sk_mixed-mixed-mixed-mixed'
export const adminToken = 'svc_at_mixed-mixed-mixed-mixed'

/** A request. Its effects contain its name, so that they can be counted. */
export interface Asked {
  kind: 'user' | 'send' | 'trigger' | 'broadcast' | 'agent-user' | 'agent-push'
  name: string
  device: string
  acknowledged: boolean
  /** The last state that an agent saw. */
  state?: string
}

export interface LoadOptions {
  /** The nodes that a load balancer would choose from. */
  urls: () => string[]
  random: () => number
  clients: number
  people: number
  broadcastEveryMs: number
  /** How long a client waits after each of its requests. */
  pauseMs: number
}

const api = { 'x-service-project-id': project, 'x-service-api-key': secretKey }
const kinds = ['user', 'user', 'send', 'send', 'trigger', 'trigger', 'agent-user', 'agent-push'] as const
const ended = ['completed', 'failed', 'canceled']
const patienceMs = 15_000
const giveUpMs = 180_000
/** The responses after which a client repeats its request with the same key. */
const again = new Set([409, 429, 503])

/** Repeatable chance: mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Clients that make every kind of durable request, and repeat each with its key until it is acknowledged. */
export function startLoad({ urls, random, clients, people, broadcastEveryMs, pauseMs }: LoadOptions) {
  const all: Asked[] = []
  const statuses = new Map<number, number>()
  const surprises: string[] = []
  let running = true

  function note({ status, text }: Reply, { kind, name }: Asked): void {
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status !== 200 && !again.has(status)) surprises.push(`${kind} ${name}: ${status} ${text.slice(0, 300)}`)
  }

  async function untilAcknowledged(asked: Asked): Promise<void> {
    all.push(asked)
    for (const untilMs = Date.now() + giveUpMs; !asked.acknowledged; ) {
      if (Date.now() > untilMs) throw new Error(`${asked.kind} ${asked.name} was not acknowledged in ${giveUpMs} ms`)
      const choice = urls()
      const url = choice[Math.floor(random() * choice.length)]
      const late = sleep(patienceMs, undefined, { ref: false })
      if (url) await Promise.race([attempt(url, asked, note), late]).catch(() => {})
      if (!asked.acknowledged) await sleep(100 + random() * 200)
    }
  }

  async function client(number: number): Promise<void> {
    for (let n = 0; running; n += 1) {
      const kind = kinds[Math.floor(random() * kinds.length)]!
      const device = `p-${1 + Math.floor(random() * people)}`
      await untilAcknowledged({ kind, name: `c${number}-${n}`, device, acknowledged: false })
      await sleep(pauseMs)
    }
  }

  async function broadcasts(): Promise<void> {
    for (let n = 0; running; n += 1) {
      await untilAcknowledged({ kind: 'broadcast', name: `b-${n}`, device: '', acknowledged: false })
      for (const untilMs = Date.now() + broadcastEveryMs; running && Date.now() < untilMs; ) await sleep(100)
    }
  }

  const working = Promise.all([broadcasts(), ...Array.from({ length: clients }, (_, number) => client(number))])
  working.catch(() => {})
  return {
    all,
    statuses,
    /** Responses that no client expects. */
    surprises,
    /** Ends when every request is acknowledged. */
    async stop(): Promise<void> {
      running = false
      await working
    }
  }
}

async function attempt(url: string, asked: Asked, note: (reply: Reply, asked: Asked) => void): Promise<void> {
  const { kind, name, device } = asked
  if (kind === 'agent-push') return stream(url, asked)
  const post = (path: string, json: Json, headers: Record<string, string> = {}) =>
    ask(url, 'POST', path, { json, headers: { ...api, 'idempotency-key': name, ...headers } })
  const trigger = (audience: Json) => post('/api/v1/campaigns/news:trigger', { audience, properties: { name } })
  const push = { target: { device_id: device }, title: name }
  const reply =
    kind === 'user'
      ? await post('/api/v1/users', { project_user_id: name, properties: { name } })
      : kind === 'send'
        ? await post('/api/v1/messages:send', { push_notifications: [push] })
        : kind === 'agent-user'
          ? await agentOf({ url }, { secretKey }, 'plain').call('send', { message: messageOf(asked) })
          : await trigger(kind === 'broadcast' ? { broadcast: true } : { targets: [{ device_id: device }] })
  note(reply, asked)
  if (reply.status !== 200) return
  if (kind !== 'agent-user') asked.acknowledged = true
  else if (reply.json.result) noteState(asked, toldState(reply.json.result))
}

function noteState(asked: Asked, state: string): void {
  asked.state = state
  asked.acknowledged = ended.includes(state)
}

/** Follows the task to its end. A stream that breaks is opened again with the same message. */
async function stream(url: string, asked: Asked): Promise<void> {
  const agent = agentOf({ url }, { secretKey }, 'plain')
  await agent.stream('stream', { message: messageOf(asked) }, (event) => {
    if (event && (event.task ?? event.statusUpdate)) noteState(asked, toldState(event))
  })
}

const messageOf = ({ kind, name, device }: Asked) => ({
  messageId: name,
  role: 'user',
  parts: [
    {
      data:
        kind === 'agent-user'
          ? { skill: 'create-user', projectUserId: name }
          : { skill: 'send-push-notification', deviceId: device, title: name }
    }
  ]
})
