import assert from 'node:assert/strict'
import { it } from 'node:test'
import { prepared } from '../../src/events/events.ts'
import { withoutUnseenExits } from '../../src/journeys/exits.ts'
import { timedIdOf } from '../../src/platform/ids.ts'
import { createPatternMatcher } from '../../src/segments/segments.ts'

type Tools = Parameters<typeof withoutUnseenExits>
type Event = { id: string; at: Date; properties: Record<string, unknown> }
const now = new Date()
const plan = (exit?: object) =>
  ({ exit, delayMs: 0, againMs: 0, steps: [{ id: 'a' }, { id: 'b' }] }) as unknown as Tools[2]['plan']
const members = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: timedIdOf(`journey ${n}`, now.getTime()),
    user_id: `user-${n}`,
    entered_at: new Date(0),
    properties: n === 0 ? { own: 0 } : {}
  })) as unknown as Tools[2]['members']
const equals = (name: string, value: unknown) => ({ attribute: `event.${name}`, operator: 'equals', value })

/** A database that has these events of each user, and counts what it was asked for. */
function database(eventsOf: (user: string) => Event[]) {
  const reads: number[] = []
  let ended = 0
  const query = async ({ name }: { name: string }, values: unknown[]) => {
    if (name !== 'journeys.later_events') return []
    const [, users, since, , after, , most] = values as [string, string[], Date[], unknown, string[], unknown, number]
    reads.push(users.length)
    return users.flatMap((user, place) =>
      eventsOf(user)
        .filter(({ at, id }) => +at > +since[place]! || (+at === +since[place]! && id > after[place]!))
        .slice(0, most)
        .map((event) => ({ ...event, place, user_id: user }))
    )
  }
  const run = async ({ name }: { name: string }, values: unknown[]) => {
    if (name === 'journeys.exit') ended += JSON.parse(values[1] as string).length
  }
  const db = { query, run, transaction: (work: (tx: unknown) => unknown) => work({ query, run }) }
  return { db: db as unknown as Tools[3]['pool'], reads, ended: () => ended }
}
const look = ({ db }: ReturnType<typeof database>, due: Omit<Tools[2], 'step' | 'now'>) => {
  const tools = { pool: db, patterns: createPatternMatcher(db), decided: new Map() }
  return prepared(() => withoutUnseenExits(db, 'p' as Tools[1], { ...due, step: 1, now }, tools))
}
/** Properties of a trigger, all names of which are read when they are copied. */
function watched(properties: Record<string, unknown>) {
  let copies = 0
  const ownKeys = (target: object) => {
    copies += 1
    return Reflect.ownKeys(target)
  }
  return { properties: new Proxy<Record<string, unknown>>(properties, { ownKeys }), copies: () => copies }
}

it('a step of a campaign without an exit reads no events', async () => {
  const data = database(() => [])
  const due = { plan: plan(), members: members(3), sharedOf: () => assert.fail('no values are needed') }
  assert.equal((await look(data, due)).length, 3)
  assert.deepEqual(data.reads, [])
})

it('a step reads the events of some users at a time, and copies the properties of their trigger for none', async () => {
  const data = database((user) => [{ id: user, at: now, properties: { sku: 'lamp', own: user === 'user-0' ? 0 : 1 } }])
  const trigger = watched({ sku: 'lamp', own: 2 })
  const where = [equals('sku', '{{ trigger.sku }}'), equals('own', '{{ trigger.own }}')]
  const due = { plan: plan({ event: 'bought', where }), members: members(250), sharedOf: () => trigger.properties }
  // The value of the first user's target counts before that of the trigger.
  assert.deepEqual((await look(data, due)).length, 249)
  assert.deepEqual([data.ended(), trigger.copies(), Math.max(...data.reads)], [1, 0, 100])
})

it('a step whose exit has a pattern finds an end, however many texts there are', async () => {
  // More texts than a process remembers, in several rounds of reading.
  const texts = (user: string) =>
    Array.from({ length: 60 }, (_, n) => ({ id: `${n}`, at: new Date(n + 1), properties: { url: `${user}/${n}` } }))
  const data = database(texts)
  const where = [{ attribute: 'event.url', operator: 'matches', value: '^/checkout' }]
  const due = { plan: plan({ event: 'viewed', where }), members: members(1_100), sharedOf: () => ({}) }
  assert.equal((await look(data, due)).length, 1_100)
})
