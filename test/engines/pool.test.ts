import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openPool, type Pool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { emptyDatabase } from '../support/database.ts'
import { silentLog } from '../support/log.ts'
import { databaseProxy } from '../support/proxy.ts'

it('a value that cannot be written fails its own transaction and spoils no connection for the next', async (t) => {
  const { url } = await emptyDatabase(t)
  const pool = openPool({ connectionString: url }, silentLog, 1)
  t.after(() => pool.close())
  const echo = statement('test.echo', 'select $1::text as said')
  const circular: { self?: unknown } = {}
  circular.self = circular
  await assert.rejects(
    pool.transaction((tx) => tx.one(echo, [circular])),
    /circular/
  )
  assert.deepEqual(await pool.transaction((tx) => tx.one(echo, ['again'])), { said: 'again' })
  await assert.rejects(pool.one(echo, [circular]), /circular/)
  assert.deepEqual(await pool.one(echo, ['and again']), { said: 'and again' })
})

it('a commit behind statements that were not waited for commits all of them or none', async (t) => {
  const { url } = await emptyDatabase(t)
  const pool = openPool({ connectionString: url }, silentLog, 1)
  t.after(() => pool.close())
  await pool.adhoc('create table kept (value integer primary key)', [])
  const keep = statement('test.keep', 'insert into kept (value) values ($1)')
  const all = statement('test.kept', 'select value from kept order by value')
  await pool.transaction(async (tx) => Promise.all([tx.run(keep, [1]), tx.run(keep, [2]), tx.commit()]))
  assert.deepEqual(await pool.query(all), [{ value: 1 }, { value: 2 }])
  const twice = pool.transaction(async (tx) => Promise.all([tx.run(keep, [3]), tx.run(keep, [1]), tx.commit()]))
  await assert.rejects(twice, { code: '23505' })
  // A caller that ignores the failed statement learns of it from the commit.
  const unseen = pool.transaction(async (tx) => {
    tx.run(keep, [2]).catch(() => {})
    await tx.commit()
  })
  await assert.rejects(unseen, { code: '23505' })
  assert.deepEqual(await pool.query(all), [{ value: 1 }, { value: 2 }])
})

it('a statement behind a failed one of its transaction fails with the cause, which decides about a repetition', async (t) => {
  const { url } = await emptyDatabase(t)
  const pool = openPool({ connectionString: url }, silentLog, 1)
  t.after(() => pool.close())
  const divide = statement('test.divide', 'select 1 / $1::int as result')
  await assert.rejects(
    pool.transaction(async (tx) => {
      tx.one(divide, [0]).catch(() => {})
      await tx.one(divide, [1])
    }),
    { code: '22012' }
  )
})

it('where the server does not begin, no statement follows the one that was sent with it', async (t) => {
  const { url } = await emptyDatabase(t)
  const refused = await databaseProxy(url, (bytes) =>
    Buffer.from(bytes.toString('latin1').replace('begin', 'begun'), 'latin1')
  )
  const [pool, plain] = [refused.url, url].map((one) => openPool({ connectionString: one }, silentLog, 1)) as [
    Pool,
    Pool
  ]
  t.after(() => Promise.all([pool.close(), plain.close()]))
  await plain.adhoc('create table noted (value integer primary key)', [])
  const note = statement('test.note', 'insert into noted (value) values ($1)')
  const look = statement('test.look', 'select 1 as one')
  const work = pool.transaction(async (tx) => {
    await tx.one(look)
    await tx.run(note, [1])
    await Promise.all([tx.run(note, [2]), tx.commit()])
  })
  await assert.rejects(work, /syntax error at or near "begun"/)
  assert.deepEqual(await plain.adhoc('select value from noted', []), [])
})

const show = statement('test.show', `select current_setting('jit') as jit`)
for (const pooler of [undefined, 'transaction'] as const)
  it(`statements are not compiled where the server would, ${pooler ? 'through a pooler' : 'on connections of our own'}`, async (t) => {
    const { url } = await emptyDatabase(t)
    const admin = openPool({ connectionString: url }, silentLog, 1)
    await admin.adhoc(`alter database "${new URL(url).pathname.slice(1)}" set jit = on`, [])
    await admin.close()
    const pool = openPool({ connectionString: url, pooler }, silentLog, 1)
    t.after(() => pool.close())
    assert.deepEqual(await pool.one(show), { jit: 'off' })
    assert.deepEqual(await pool.transaction((tx) => tx.one(show)), { jit: 'off' })
  })
