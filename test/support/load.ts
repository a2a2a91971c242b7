import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from './eventually.ts'
import type { Json } from './http.ts'
import { type outage, toDevices } from './outage.ts'

type Outage = Awaited<ReturnType<typeof outage>>
const perRequest = 5

export interface Figures {
  requests: number
  messages: number
  /** Acknowledged to a caller and never seen at the gateway. */
  lost: number
  /** Seen more than once at the gateway. */
  doubled: number
  /** Responses to callers while the fault lasted, by status; 0 is a connection that ended. */
  statuses: string
  p50: number
  p99: number
  /** From the end of the fault to the first acknowledged request, and until every message had ended. */
  backMs: number
  doneMs: number
}

/** Callers that send with a key and repeat what was not acknowledged, at another node each time. */
function startCallers({ urls, post }: Outage, callers: number, people: number) {
  const run = randomUUID()
  const acknowledged = new Map<string, number>()
  const answers: { at: number; ms: number; status: number }[] = []
  let number = 0
  let over = false
  const call = async (caller: number): Promise<void> => {
    while (!over) {
      const key = `${run} ${number++}`
      const body = toDevices(1 + ((number * perRequest) % (people - perRequest)), perRequest)
      for (let turn = caller; ; turn += 1) {
        const at = performance.now()
        const reply = await post(urls[turn % urls.length]!, '/messages:send', body, key).catch(() => undefined)
        answers.push({ at, ms: performance.now() - at, status: reply?.status ?? 0 })
        for (const { message_id, status } of (reply?.status === 200 ? reply.json.delivery_results : []) as Json[])
          if (/SUCCEED|PENDING/.test(status)) acknowledged.set(message_id, performance.now())
        if (reply?.status === 200) break
        await sleep(200)
      }
      await sleep(20)
    }
  }
  const calling = Array.from({ length: callers }, (_, caller) => call(caller))
  return {
    acknowledged,
    answers,
    requests: () => number,
    async stop() {
      over = true
      await Promise.all(calling)
    }
  }
}

/** A fault for some time under load, and what it cost. The gateway counts the pushes. */
export async function underLoad(
  world: Outage,
  {
    callers = 4,
    people,
    seconds,
    begin,
    end
  }: {
    callers?: number
    people: number
    seconds: number
    begin: () => void | Promise<void>
    end: () => void | Promise<void>
  }
): Promise<Figures> {
  const arrivedBefore = world.arrived().length
  const [{ n: before }] = (await world.sql('select count(*)::int as n from messages')) as [{ n: number }]
  const load = startCallers(world, callers, people)
  await eventually(() => assert.ok(world.arrived().length > arrivedBefore + 20), 30_000)
  const fromMs = performance.now()
  await begin()
  await sleep(seconds * 1_000)
  await end()
  const endedMs = performance.now()
  await eventually(() => assert.ok(load.answers.some(({ at, status }) => at > endedMs && status === 200)), 120_000)
  const back = load.answers.find(({ at, status }) => at > endedMs && status === 200)!
  await load.stop()
  const messages = before + load.requests() * perRequest
  await world.settled(messages, 120_000)
  const doneMs = performance.now() - endedMs
  const during = load.answers.filter(({ at, ms }) => at + ms > fromMs && at < endedMs)
  const times = during.map(({ ms }) => ms).sort((a, b) => a - b)
  const collapse = new Set(world.arrived().map(({ request }) => request.headers['apns-collapse-id']))
  const rows = await world.sql('select message_id, collapse_id from messages')
  const idOf = new Map(rows.map(({ message_id, collapse_id }) => [message_id, collapse_id]))
  const by = Map.groupBy(during, ({ status }) => status)
  return {
    requests: load.requests(),
    messages: messages - before,
    lost: [...load.acknowledged.keys()].filter((id) => !collapse.has(idOf.get(id))).length,
    doubled: world.repeated().length,
    statuses: [...by].map(([status, all]) => `${status}: ${all.length}`).join(', '),
    p50: Math.round(times[Math.floor(times.length / 2)] ?? 0),
    p99: Math.round(times[Math.floor(times.length * 0.99)] ?? 0),
    backMs: Math.round(back.at + back.ms - endedMs),
    doneMs: Math.round(doneMs)
  }
}

export const shown = ({ requests, messages, lost, doubled, statuses, p50, p99, backMs, doneMs }: Figures) =>
  `${requests} requests, ${messages} messages; lost ${lost}, doubled ${doubled}; meanwhile ${statuses}, p50 ${p50} ms, ` +
  `p99 ${p99} ms; then a response after ${backMs} ms, all done after ${doneMs} ms`
