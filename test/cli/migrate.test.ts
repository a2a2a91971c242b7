import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMigrations } from '../../src/platform/db/migrations.ts'
import { databaseUrl, emptyDatabase } from '../support/database.ts'
import { run, temporaryFolder } from './service.ts'

const names = readMigrations().map(({ name }) => name)

test('migrate prints the migrations it applied, or that the database is up to date', async (t) => {
  const { name, url } = await emptyDatabase(t)
  const env = { DATABASE_URL: url, DATA_DIR: await temporaryFolder(t) }
  const first = await run(['migrate', '--json'], { env })
  assert.equal(first.code, 0, first.stderr)
  const { database, applied, total } = first.json<{ database: string; applied: string[]; total: number }>()
  assert.ok(database.endsWith(`/${name}`) && !database.includes('@'))
  assert.deepEqual([applied, total], [names, names.length])
  const second = await run(['migrate'], { env })
  assert.deepEqual([second.code, second.stderr], [0, ''])
  assert.match(second.stdout, /^The database \S+ is up to date \(\d+ migrations\)\.$/m)
})

test('migrate starts the embedded database and stops it again', async (t) => {
  const env = { DATA_DIR: await temporaryFolder(t) }
  const first = await run(['migrate'], { env })
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^Applied \d+ migrations to the database embedded in /)
  for (const name of names) assert.ok(first.stdout.includes(`  ${name}\n`))
  assert.match((await run(['migrate'], { env })).stdout, /is up to date/)
})

test('a database that refuses is reported without its password', async () => {
  const env = { DATABASE_URL: databaseUrl('no_such_database') }
  const { code, stderr } = await run(['migrate', '--json'], { env })
  assert.equal(code, 1)
  assert.match(JSON.parse(stderr).error, /no_such_database refuses: .*DATABASE_URL/)
})
