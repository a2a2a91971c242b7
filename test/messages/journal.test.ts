import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { readLines } from '../../src/messages/journal/format.ts'
import { Journal } from '../../src/messages/journal/journal.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import type { Log } from '../../src/platform/log.ts'
import { silentLog } from '../support/log.ts'
import { temporaryFolder } from '../support/program.ts'
import { messagesAlone, projectId } from './messages-alone.ts'

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
const lineOf = (device_id: string) => ({ trigger_id: newId(), device_id, attempts: 1, gateway_message_id: 'g' })
const other = 'other' as ProjectId

async function journalIn(t: TestContext, log: Log = silentLog) {
  const folder = join(await temporaryFolder(t), 'outcomes')
  const journal = new Journal(folder, newId(), log)
  t.after(() => journal.close())
  const files = () => readdirSync(folder).map((name) => join(folder, name))
  return { folder, journal, files, text: () => files().map((file) => readFileSync(file, 'utf8')) }
}

it('lines of one turn are in a file that only its owner may read, each with its project', async (t) => {
  const { journal, files, text, folder } = await journalIn(t)
  const [mine, theirs] = [lineOf('a'), lineOf('b "\n')]
  journal.note(projectId, mine)
  journal.note(other, theirs)
  await turn()
  const [file] = files() as [string]
  assert.deepEqual([statSync(folder).mode & 0o777, statSync(file).mode & 0o777], [0o700, 0o600])
  assert.deepEqual(
    [...readLines(text()[0]!)],
    [
      [projectId, [mine]],
      [other, [theirs]]
    ]
  )
})

it('a torn line, and text that is no line, are left out', () => {
  const whole = JSON.stringify([projectId, newId(), 'a', 1, null])
  const torn = whole.slice(0, -3)
  const foreign = ['', '{}', 'null', '[]', '[1,2,3,4,5]', JSON.stringify([projectId, 'no-uuid', 'a', 1, 'g'])]
  assert.equal(readLines([torn, whole, ...foreign, torn].join('\n')).get(projectId)!.length, 1)
})

it('a journal whose lines are all settled stays small, and one under steady load goes on in another file', async (t) => {
  const { journal, files } = await journalIn(t)
  const long = 'x'.repeat(10_000)
  for (let n = 0; n < 50; n += 1) {
    const noted = journal.note(projectId, lineOf(long))
    await turn()
    journal.settled(noted)
  }
  assert.ok(files().reduce((sum, file) => sum + statSync(file).size, 0) < 100_000)
  let last: ReturnType<Journal['note']>
  for (let n = 0; n < 300; n += 1) {
    const noted = journal.note(projectId, lineOf(long))
    await turn()
    journal.settled(last)
    last = noted
  }
  assert.equal(files().length, 1, 'files whose lines are settled are removed')
  assert.ok(statSync(files()[0]!).size < 1_100_000)
  const open = Array.from({ length: 1_500 }, () => lineOf(long))
  for (const line of open) {
    journal.note(projectId, line)
    await turn()
  }
  assert.ok(files().length <= 9, `${files().length} files, although no line was settled`)
})

it('a journal forgets devices a minute after their outcomes are stored, and keeps those that are open', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { journal, text } = await journalIn(t)
  const [done, open] = [journal.note(projectId, lineOf('gone')), journal.note(projectId, lineOf('kept'))]
  await turn()
  journal.settled(done)
  t.mock.timers.tick(61_000)
  assert.match(text()[0]!, /gone.*kept/s)
  journal.settled(open)
  t.mock.timers.tick(61_000)
  assert.deepEqual(text(), [''])
})

it('a folder that cannot be written costs one warning and no push', async (t) => {
  const warned: string[] = []
  const log = { ...silentLog, warn: (_: unknown, text: string) => warned.push(text) } as unknown as Log
  const { journal, folder } = await journalIn(t, log)
  writeFileSync(folder, 'a file in the place of the folder')
  for (let n = 0; n < 3; n += 1) journal.settled(journal.note(projectId, lineOf('a')))
  await turn()
  assert.equal(warned.length, 1)
})

it('a process that takes over messages of a dead one settles first what it had noted', async (t) => {
  const folder = join(await temporaryFolder(t), 'outcomes')
  mkdirSync(folder)
  const { messages, draft, sql, sender, pool } = await messagesAlone(t, { journalFolder: folder })
  const dead = newId()
  const triggerId = newId()
  const drafts = ['noted', 'lost'].map((device) => draft(triggerId, device))
  const rows = await pool.transaction((tx) => messages.persist(tx, projectId, drafts, { owner: 'none' }))
  await sql(`update messages set state = 'handed', due_at = now(), owner = $1`, [dead])
  const line = [projectId, triggerId, 'noted', 1, 'by-the-dead']
  const stranger = ['another', triggerId, 'lost', 1, 'of-another-project']
  const file = join(folder, `${dead}.99999999.1.journal`)
  writeFileSync(file, `\n${JSON.stringify(line)}\n${JSON.stringify(stranger)}\n["p","torn`)
  const open = await messages.findUnanswered(projectId, [triggerId])
  assert.equal(open.length, rows.length)
  await messages.dispatch(projectId, open, { deadline: performance.now() + 2_000 })
  assert.deepEqual(
    await sql(`select device_id, state, gateway_message_id, attempts from messages where device_id = 'noted'`),
    [{ device_id: 'noted', state: 'accepted', gateway_message_id: 'by-the-dead', attempts: 1 }]
  )
  assert.deepEqual(sender.to('noted'), [], 'the gateway had accepted it')
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith(dead)),
    []
  )
})

it('a start settles what an earlier process had noted, and leaves files of living ones and unreadable ones', async (t) => {
  const folder = join(await temporaryFolder(t), 'outcomes')
  mkdirSync(folder)
  const { messages, draft, sql, pool } = await messagesAlone(t, { journalFolder: folder })
  const triggerId = newId()
  await pool.transaction((tx) => messages.persist(tx, projectId, [draft(triggerId, 'd')], { owner: 'none' }))
  const lineOfD = `\n${JSON.stringify([projectId, triggerId, 'd', 1, 'g'])}`
  const living = `${newId()}.${process.ppid}.1.journal`
  const unreadable = `${newId()}.99999999.1.journal`
  for (const name of [living, unreadable]) writeFileSync(join(folder, name), lineOfD)
  chmodSync(join(folder, unreadable), 0)
  await messages.recover()
  // Root may read every file.
  if (process.getuid?.() !== 0) {
    assert.deepEqual(await sql('select state from messages'), [{ state: 'queued' }])
    chmodSync(join(folder, unreadable), 0o600)
    await messages.recover()
  }
  assert.deepEqual(await sql('select state from messages'), [{ state: 'accepted' }])
  const own = `.${process.pid}.1.journal`
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.endsWith(own)),
    [living]
  )
})
