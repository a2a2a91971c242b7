import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { emptyDatabase } from '../support/database.ts'
import { silentLog } from '../support/log.ts'

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
