import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/platform/db/open.ts'
import { run } from '../cli/service.ts'
import { withClient } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { preparedFolder, tempFolder } from './support/embedded.ts'

const sql = async (url: string, text: string) => (await withClient(url, (client) => client.query(text))).rows

it('an archive restores the embedded database as it was at any moment, paused; the long run restores the archive of that one too', async (t) => {
  const DATA_DIR = await preparedFolder(t)
  const ARCHIVE_DIR = join(await tempFolder(t), 'archive')
  const env = { DATA_DIR, ARCHIVE_DIR }
  assert.equal((await run(['migrate'], { env })).code, 0)
  const said: string[] = []
  const opened = () =>
    openDatabase({ DATABASE_URL: undefined, ...env }, (line) => void said.push(line), { archives: true })
  const bases = async () =>
    (await readdir(join(ARCHIVE_DIR, 'base')).catch(() => [])).filter((name) => !/part$/.test(name))
  const first = await opened()
  const url = first.connection.connectionString!
  await sql(url, 'create table noted (value int)')
  await eventually(async () => assert.equal((await bases()).length, 1), 20_000)
  await sql(url, 'insert into noted values (1)')
  await sleep(50)
  const before = new Date()
  await sleep(50)
  await sql(url, 'insert into noted select generate_series(2, 1000)')
  await first.stop()
  assert.match((await run(['doctor'], { env })).stdout, /^ok +Archive +\S+, every moment since /m)

  const wrong = await run(['restore', ARCHIVE_DIR, '--at', '2020-01-01'], { env })
  assert.match(wrong.stderr, /begins at .*, and 2020-01-01T00:00:00.000Z was before/)
  const kept = await run(['restore', ARCHIVE_DIR], { env })
  assert.match(kept.stderr, /holds a database already.*--replace/)
  const args = ['restore', ARCHIVE_DIR, '--at', before.toISOString(), '--replace', '--yes', '--json']
  const restored = await run(args, { env })
  assert.equal(restored.code, 0, restored.stderr)
  assert.ok((await readdir(DATA_DIR)).some((name) => /^postgres\.before-\d+$/.test(name)))

  const second = await opened()
  const rows = await sql(second.connection.connectionString!, 'select value from noted')
  assert.deepEqual(rows, [{ value: 1 }])
  const [pause] = await sql(second.connection.connectionString!, `select value from settings where name = 'paused'`)
  assert.equal(JSON.parse(pause!.value).backup_made_at, before.toISOString())
  if (!process.env.TIDINGS_LONG) return second.stop()
  // The new timeline begins with a copy of its own.
  await eventually(async () => assert.equal((await bases()).length, 2), 20_000)
  await sql(second.connection.connectionString!, 'insert into noted values (2000)')
  await second.stop()
  assert.equal((await run(['restore', ARCHIVE_DIR, '--replace', '--yes'], { env })).code, 0)
  const third = await opened()
  const all = await sql(third.connection.connectionString!, 'select value from noted order by 1').finally(third.stop)
  assert.deepEqual(all, [{ value: 1 }, { value: 2000 }])
  assert.deepEqual(
    said.filter((line) => /Warning/.test(line)),
    []
  )
})
