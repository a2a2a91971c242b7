import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPool } from '../../src/platform/db/db.ts'
import { lockKey, migrate } from '../../src/platform/db/migrate.ts'
import { readMigration, readMigrations } from '../../src/platform/db/migrations.ts'
import { elsewhere, migratedDatabase, withClient } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { silentLog } from '../support/log.ts'

const known = readMigrations()
const next = (text: string, id = 9_998) => [...known, readMigration(`${id}-next`, text)]
const column = 'alter table users add column nickname text;\n'
const nothing = async () => 'started'

async function database(t: TestContext) {
  const { url, connection } = await migratedDatabase(t)
  const open = () => {
    const pool = openPool(connection, silentLog, 2)
    t.after(() => pool.close())
    return pool
  }
  const query = (text: string) => elsewhere(() => withClient(url, async (client) => (await client.query(text)).rows))
  return { url, open, query }
}

describe('older code on a database that newer code migrated', () => {
  it('starts if the migration lets it run beside, but does nothing that needs to know every column', async (t) => {
    const { open } = await database(t)
    await migrate(open(), nothing, { migrations: next(column) })
    assert.equal(await migrate(open(), nothing, { newer: 'beside' }), 'started')
    await assert.rejects(migrate(open(), nothing), /migrated by a newer version .*9998-next/)
  })

  it('is refused if the migration says that older nodes stop first', async (t) => {
    const { open } = await database(t)
    await migrate(open(), nothing, {
      migrations: next(`-- Stop older nodes first: they write the old name.\n${column}`)
    })
    await assert.rejects(migrate(open(), nothing, { newer: 'beside' }), /migrated by a newer version .*9998-next/)
  })

  it('is refused if a version that recorded no such word applied the migration', async (t) => {
    const { open, query } = await database(t)
    await query('alter table migrations drop column beside')
    await query(`insert into migrations (id, name, applied_at) values (9998, '9998-old', now())`)
    await assert.rejects(migrate(open(), nothing, { newer: 'beside' }), /migrated by a newer version .*9998-old/)
  })
})

describe('a migration under load', () => {
  it('waits for the lock of a table by turns, so that requests on the table go on', async (t) => {
    const { url, open, query } = await database(t)
    await withClient(url, async (holder) => {
      await holder.query('begin')
      await holder.query('select from users limit 1')
      const migrating = migrate(open(), async (applied) => applied, { migrations: next(column) })
      await eventually(async () =>
        assert.equal((await query(`select from pg_locks where not granted and relation = 'users'::regclass`)).length, 1)
      )
      for (let n = 0; n < 3; n += 1)
        await withClient(url, async (client) => {
          // Longer than the turn of the migration, and far shorter than the holder takes.
          await client.query(`set statement_timeout = '8s'`)
          await client.query('select from users limit 1')
        })
      await holder.query('commit')
      assert.deepEqual(await migrating, ['9998-next'])
    })
  })

  it('builds an index concurrently while other nodes wait for the same lock, again after a crash', async (t) => {
    const { url, open, query } = await database(t)
    const text =
      '-- Without a transaction: users may have many rows.\n' +
      'create unique index concurrently if not exists users_next on users (project_id, id, updated_at);\n'
    await withClient(url, async (holder) => {
      // As a crash leaves it: an index that was not finished.
      await query('create unique index users_next on users (project_id, id, updated_at)')
      await query(`update pg_index set indisvalid = false where indexrelid = 'users_next'::regclass`)
      await holder.query('select pg_advisory_lock($1)', [lockKey])
      const starting = Array.from({ length: 4 }, () =>
        migrate(open(), async (applied) => applied, { migrations: next(text) })
      )
      await sleep(300)
      await holder.query('select pg_advisory_unlock($1)', [lockKey])
      assert.deepEqual((await Promise.all(starting)).flat(), ['9998-next'])
    })
    assert.deepEqual(await query(`select indisvalid from pg_index where indexrelid = 'users_next'::regclass`), [
      { indisvalid: true }
    ])
  })
})
