import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { statement } from '../../src/platform/db/statement.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { resealAll } from '../../src/platform/secrets/sealed.ts'
import { open, seal } from '../../src/platform/secrets/secrets.ts'
import { createSecrets, projectOwner } from '../../src/webhooks/secrets.ts'
import { newSecret } from '../../src/webhooks/signing.ts'
import { testPool } from '../support/database.ts'

const addProject = statement(
  'test.secrets_project',
  `insert into projects (project_id, name, mode, plan, limits, retention, created_at)
   values ($1, 'Test', 'live', 'standard', '{}', '{}', $2)`
)
// The only statements by which a node of the version before knows secrets.
const oldReplace = statement(
  'test.old_replace_secret',
  `update webhook_secrets set previous = sealed, previous_until = $4, sealed = $3, created_at = $5
    where project_id = $1 and owner = $2`
)
const oldFind = statement(
  'test.old_find_secret',
  'select sealed, previous, previous_until from webhook_secrets where project_id = $1 and owner = $2'
)
interface OldRow {
  sealed: string
  previous: string | null
  previous_until: Date | null
}
const stored = statement('test.stored_secrets', 'select w::text as row from webhook_secrets w where project_id = $1')
const length = statement(
  'test.length_of_replaced',
  'select length(replaced) as length from webhook_secrets where project_id = $1'
)

const shop = 'shop' as ProjectId
const other = 'other' as ProjectId
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Secrets with a clock of their own. */
async function setUp(t: TestContext) {
  const pool = await testPool(t)
  for (const id of [shop, other]) await pool.run(addProject, [id, new Date()])
  const clock = { now: Date.parse('2026-01-31T09:00:00Z') }
  const key = randomBytes(32)
  const secrets = createSecrets(key, () => clock.now)
  const rotate = async (overlapMs = dayMs, id = shop) =>
    (await pool.transaction((tx) => secrets.rotate(tx, id, projectOwner, overlapMs))).secret
  const current = (id = shop) => secrets.current(pool, id, projectOwner)
  return { pool, clock, key, secrets, rotate, current }
}

test('a replaced secret signs for 24 hours, however often the one after it is replaced', async (t) => {
  const { pool, clock, secrets, rotate, current } = await setUp(t)
  const [first] = await secrets.ensure(pool, shop, projectOwner)
  const second = await rotate()
  clock.now += hourMs
  const third = await rotate()
  assert.deepEqual(await current(), [third, second, first])
  clock.now += 23 * hourMs - 1
  assert.deepEqual(await current(), [third, second, first])
  clock.now += 1
  assert.deepEqual(await current(), [third, second])
  clock.now += hourMs
  assert.deepEqual(await current(), [third])
})

test('a rotation removes the secrets that have ended, and none is stored in the clear', async (t) => {
  const { pool, clock, rotate, current } = await setUp(t)
  const bytes = async () => (await pool.one<{ length: number }>(length, [shop]))!.length
  const made = [await rotate(), await rotate()]
  const ofOne = await bytes()
  made.push(await rotate())
  assert.ok((await bytes()) > ofOne)
  clock.now += dayMs
  made.push(await rotate())
  assert.equal(await bytes(), ofOne)
  assert.deepEqual(await current(), made.slice(2).reverse())
  const { row } = (await pool.one<{ row: string }>(stored, [shop]))!
  for (const secret of made) assert.ok(!row.includes(secret) && !row.includes(secret.slice('whsec_'.length)))
})

test('a sixth secret is refused until the first of the five ends, and the refusal says when', async (t) => {
  const { clock, rotate, current } = await setUp(t)
  for (let made = 0; made < 5; made += 1) {
    await rotate()
    clock.now += hourMs
  }
  const before = await current()
  assert.equal(before.length, 5)
  // The first of them was replaced at 10:00.
  await assert.rejects(rotate(), { code: 'conflict', message: /ends at 2026-02-01T10:00:00\.000Z: rotate again then/ })
  assert.deepEqual(await current(), before, 'nothing changed')
  clock.now = Date.parse('2026-02-01T10:00:00Z')
  assert.deepEqual(await current(), before.slice(0, 4))
  const fresh = await rotate()
  assert.deepEqual(await current(), [fresh, ...before.slice(0, 4)])
})

test('an overlap of 0 leaves only the new secret, also where five sign; a shorter or longer one is of the replaced secret only', async (t) => {
  const { clock, rotate, current } = await setUp(t)
  const first = await rotate()
  const second = await rotate(7 * dayMs)
  const third = await rotate(hourMs)
  clock.now += hourMs
  assert.deepEqual(await current(), [third, first])
  clock.now += 6 * dayMs
  assert.deepEqual(await current(), [third, first])
  for (let made = 0; made < 3; made += 1) await rotate()
  assert.equal((await current()).length, 5)
  const last = await rotate(0)
  assert.deepEqual(await current(), [last])
  const next = await rotate()
  assert.deepEqual(await current(), [next, last])
  assert.ok(!(await current()).includes(second))
})

test('each project has its own: a rotation changes those of no other', async (t) => {
  const { rotate, current } = await setUp(t)
  const theirs = await rotate(dayMs, other)
  await rotate()
  await rotate()
  assert.deepEqual(await current(other), [theirs])
  assert.ok(!(await current()).includes(theirs))
  await rotate(0)
  assert.deepEqual(await current(other), [theirs])
})

test('of simultaneous rotations each keeps the secret that it replaces', async (t) => {
  const { rotate, current } = await setUp(t)
  // The first ones meet where there is no secret yet.
  const made = await Promise.all([rotate(), rotate(), rotate()])
  assert.deepEqual((await current()).sort(), made.sort())
  const more = await Promise.all([rotate(), rotate()])
  assert.deepEqual((await current()).sort(), [...made, ...more].sort())
})

test('a node of the version before rotates and signs beside new ones, and no secret ends early', async (t) => {
  const { pool, clock, key, rotate, current } = await setUp(t)
  const context = 'webhook_secret:shop:project'
  const first = await rotate()
  const second = await rotate()
  const third = newSecret()
  const until = new Date(clock.now + dayMs)
  await pool.run(oldReplace, [shop, projectOwner, seal(key, context, third), until, new Date(clock.now)])
  assert.deepEqual(await current(), [third, second, first])
  const fourth = await rotate()
  assert.deepEqual(await current(), [fourth, third, second, first])
  // It reads the newest two.
  const row = (await pool.one<OldRow>(oldFind, [shop, projectOwner]))!
  const signing = [row.sealed, row.previous!].map((text) => open(key, context, text))
  assert.deepEqual([signing, row.previous_until], [[fourth, third], until])
  const fifth = await rotate(0)
  assert.deepEqual(await current(), [fifth])
  assert.equal((await pool.one<OldRow>(oldFind, [shop, projectOwner]))!.previous, null)
})

test('a change of the master key seals all of them again', async (t) => {
  const { pool, key, clock, rotate, current } = await setUp(t)
  for (let made = 0; made < 3; made += 1) await rotate()
  const before = await current()
  const fresh = randomBytes(32)
  const counts = await pool.transaction((tx) => resealAll(tx, key, fresh))
  const ofSecrets = ['sealed', 'previous', 'replaced'].map((column) => counts[`webhook_secrets.${column}`])
  assert.deepEqual(ofSecrets, [1, 1, 1])
  await assert.rejects(current())
  assert.deepEqual(await createSecrets(fresh, () => clock.now).current(pool, shop, projectOwner), before)
})
