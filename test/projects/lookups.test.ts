import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import type { Pool } from '../../src/platform/db/db.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { hashTextOf } from '../../src/projects/keys.ts'
import { createCredentials, createProjects, networkOf, toProject } from '../../src/projects/projects.ts'
import { testPool } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { silentLog } from '../support/log.ts'

const plans = { standard: 0 }
const guesser = { ip: '192.0.2.7' }
const guess = () => hashTextOf(`svc_sk_${randomBytes(32).toString('base64url')}`)

/** The real pool, with every statement counted. */
function counted(pool: Pool) {
  const count = { statements: 0 }
  const query: Pool['query'] = (statement, values) => {
    count.statements++
    return pool.query(statement, values)
  }
  const one: Pool['one'] = (statement, values) => {
    count.statements++
    return pool.one(statement, values)
  }
  return { count, pool: { ...pool, query, one } }
}

async function credentialsWithKey(t: TestContext) {
  const { pool, count } = counted(await testPool(t))
  const listener = { on: () => {} }
  const metrics = createMetrics()
  const people = { members: async () => new Map(), links: async () => [], seen: async () => 0 }
  const credentials = createCredentials({
    pool,
    listener,
    toProject: toProject(plans),
    people,
    log: silentLog,
    metrics
  })
  t.after(() => credentials.close())
  const projects = createProjects({
    pool,
    plans,
    credentials,
    log: silentLog,
    scheduleErasure: async () => {},
    onResume: async () => {}
  })
  const { id } = await projects.create('test', { name: 'Shop' })
  const makeKey = async () => {
    const { key, id: keyId } = await projects.createKey('test', id, 'secret', 'test')
    return { hash: hashTextOf(key), keyId, id }
  }
  return { credentials, count, pool, makeKey, ...(await makeKey()) }
}

describe('looking up credentials', () => {
  it('goes on at once when the clock steps back', async (t) => {
    const { credentials, hash, makeKey } = await credentialsWithKey(t)
    assert.ok(await credentials.key(hash, guesser))
    const made = await makeKey()
    const hourMs = 3_600_000
    const before = Date.now
    t.mock.method(Date, 'now', () => before() - hourMs)
    const found = Promise.resolve(credentials.key(made.hash, guesser)).then((key) => key?.id)
    const waited = new Promise((resolve) => setTimeout(resolve, 20_000, 'still waiting').unref())
    assert.equal(await Promise.race([found, waited]), made.keyId)
  })

  it('20,000 guesses take less than 200 statements and evict no valid key', async (t) => {
    const { credentials, count, hash } = await credentialsWithKey(t)
    assert.ok(await credentials.key(hash, guesser))
    const before = count.statements
    const addresses = Array.from({ length: 100 }, (_, number) => ({ ip: `198.51.100.${number}` }))
    for (let wave = 0; wave < 4; wave++) {
      const found = await Promise.all(
        Array.from({ length: 5_000 }, (_, number) => credentials.key(guess(), addresses[number % 100]!))
      )
      assert.ok(found.every((key) => key === undefined))
    }
    const used = count.statements - before
    assert.ok(used < 200, `${used} statements`)
    await Promise.all(Array.from({ length: 200 }, () => credentials.key(guess(), guesser)))
    // Valid before, so it is looked up at once although its address has hundreds of look-ups waiting.
    const waiting = Array.from({ length: 400 }, () => credentials.key(guess(), guesser))
    const order: string[] = []
    await Promise.all([
      Promise.resolve(credentials.key(hash, guesser)).then((key) => order.push(key ? 'valid' : 'lost')),
      Promise.all(waiting).then(() => order.push('guesses'))
    ])
    assert.deepEqual(order, ['valid', 'guesses'])
  })

  it('a key that was looked up a moment ago is returned without a promise', async (t) => {
    const { credentials, hash } = await credentialsWithKey(t)
    const key = await credentials.key(hash, guesser)
    assert.equal(credentials.key(hash, guesser), key)
  })

  it('a new valid key from an address that guesses waits for its turn and is admitted', async (t) => {
    const { credentials, makeKey } = await credentialsWithKey(t)
    await Promise.all(Array.from({ length: 400 }, () => credentials.key(guess(), guesser)))
    const other = await makeKey()
    const waiting = Array.from({ length: 100 }, () => credentials.key(guess(), guesser))
    assert.ok(await credentials.key(other.hash, guesser))
    await Promise.all(waiting)
  })

  it('more than 500 waiting look-ups of one address are refused, those of another address are not', async (t) => {
    const { credentials, makeKey } = await credentialsWithKey(t)
    const other = await makeKey()
    const flood = Array.from({ length: 600 }, async () => credentials.key(guess(), guesser))
    const elsewhere = Promise.resolve(credentials.key(other.hash, { ip: '203.0.113.9' }))
    const results = await Promise.allSettled(flood)
    const refused = results.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 100)
    assert.ok(refused.every((one) => (one as PromiseRejectedResult).reason.code === 'rate_limited'))
    assert.ok(await elsewhere)
  })

  it('a key deleted without a notification is refused within a second, though it was valid before', async (t) => {
    const { credentials, hash, pool } = await credentialsWithKey(t)
    assert.ok(await credentials.key(hash, guesser))
    await pool.adhoc('delete from api_keys', [])
    await eventually(async () => assert.equal(await credentials.key(hash, guesser), undefined), 1_000)
  })

  it('one statement finds all keys that are shown together, each with its own project', async (t) => {
    const { credentials, count, makeKey } = await credentialsWithKey(t)
    const keys = await Promise.all(Array.from({ length: 50 }, makeKey))
    const before = count.statements
    const found = await Promise.all(keys.map(({ hash }) => credentials.key(hash, guesser)))
    assert.deepEqual(
      found.map((key) => key?.id),
      keys.map(({ keyId }) => keyId)
    )
    assert.equal(count.statements - before, 2, 'one for the keys, one for their projects')
  })
})

describe('an address', () => {
  const networks = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:50123', '192.0.2.1'],
    ['[2001:db8:1:2::9]:50123', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64']
  ] as const
  for (const [ip, network] of networks) it(`${ip} counts as ${network}`, () => assert.equal(networkOf(ip), network))

  it('a client that has reset its connection is a stranger without an address', () => {
    assert.equal(networkOf(undefined), '')
  })
})
