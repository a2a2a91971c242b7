import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { boundLog } from '../../src/platform/db/embedded/log.ts'
import { socketFolder } from '../../src/platform/db/embedded/places.ts'
import { letPreviousEnd } from '../../src/platform/db/embedded/previous.ts'
import {
  atEnd,
  isRunning,
  postmasterPid,
  preparedFolder,
  query,
  startServer,
  tempFolder,
  until
} from '../embedded/support/embedded.ts'
import { eventually } from '../support/eventually.ts'

const silent = () => {}
const answers = (url: string) =>
  query(url, 'select 1').then(
    () => true,
    () => false
  )

// The tests mostly wait, so they run together.
describe('faults of the embedded PostgreSQL', { concurrency: 3 }, () => {
  test('a killed PostgreSQL restarts under the same url with every acknowledged write', async (t) => {
    const dataDir = await preparedFolder(t)
    const said: string[] = []
    const server = await startEmbedded({ dataDir, say: (line) => said.push(line) })
    atEnd(t, () => server.stop())
    await query(server.url, 'create table note (number int)')
    for (const number of [1, 2]) {
      await query(server.url, `insert into note values (${number})`)
      const pid = await postmasterPid(dataDir)
      process.kill(pid, 'SIGKILL')
      await until('PostgreSQL answers again', async () => !isRunning(pid) && (await answers(server.url)))
      assert.deepEqual(await query(server.url, 'select count(*)::int as count from note'), [{ count: number }])
    }
    assert.equal(said.filter((line) => line === 'PostgreSQL was ended by SIGKILL; starting it again…').length, 2)
  })

  test('a process of a killed PostgreSQL that does not notice its end is killed after a moment', async (t) => {
    const dataDir = await preparedFolder(t)
    const said: string[] = []
    const server = await startEmbedded({ dataDir, say: (line) => said.push(line) })
    atEnd(t, () => server.stop())
    const client = new pg.Client({ connectionString: server.url })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const [{ pid }] = rows as [{ pid: number }]
    process.kill(pid, 'SIGSTOP')
    process.kill(await postmasterPid(dataDir), 'SIGKILL')
    // Without the kill it would be away for as long as the process is stopped.
    await eventually(async () => assert.equal(await answers(server.url), true), 30_000)
    assert.equal(isRunning(pid), false)
    assert.ok(
      said.includes(`Processes of the previous PostgreSQL did not end and were killed: ${pid}.`),
      said.join('\n')
    )
  })

  test('a PostgreSQL that cannot restart ends the service, and the data folder works again after a stop', async (t) => {
    const dataDir = await preparedFolder(t)
    const said: string[] = []
    const server = await startEmbedded({ dataDir, say: (line) => said.push(line) })
    const settings = join(dataDir, 'postgres/postgresql.conf')
    const { size } = await stat(settings)
    await appendFile(settings, 'no_such_setting = 1\n')
    process.kill(await postmasterPid(dataDir), 'SIGKILL')
    await server.exited
    assert.match(said.join('\n'), /PostgreSQL does not start on .*no_such_setting/)
    assert.match(said.at(-1)!, /^PostgreSQL died 6 times within a minute and is left alone\. Its log is /)
    await server.stop()

    await truncate(settings, size)
    const next = await startEmbedded({ dataDir, say: silent })
    await next.stop()
  })

  test('a stop during a restart of PostgreSQL leaves no process', async (t) => {
    const dataDir = await preparedFolder(t)
    const restarting = Promise.withResolvers<void>()
    const server = await startEmbedded({ dataDir, say: () => restarting.resolve() })
    process.kill(await postmasterPid(dataDir), 'SIGKILL')
    await restarting.promise
    await server.stop()
    const leftBehind = await postmasterPid(dataDir).catch(() => undefined)
    assert.ok(leftBehind === undefined || !isRunning(leftBehind))
    assert.equal(await answers(server.url), false)
  })

  test('another process that has the pid of a killed PostgreSQL is not touched', async (t) => {
    const dataDir = await preparedFolder(t)
    const first = startServer(t, { dataDir })
    await first.url
    const pid = await postmasterPid(dataDir)
    process.kill(pid, 'SIGSTOP')
    first.process.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    await first.exited
    await until('PostgreSQL has ended', () => !isRunning(pid))
    const stranger = spawn('sleep', ['60'])
    atEnd(t, () => stranger.kill())
    const file = join(dataDir, 'postgres/postmaster.pid')
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^\d+/, String(stranger.pid)))

    const server = await startEmbedded({ dataDir, say: silent })
    await server.stop()
    assert.equal(isRunning(stranger.pid!), true)
    assert.match(await readFile(join(dataDir, 'postgres.log'), 'utf8'), /automatic recovery/)
  })

  test('a start waits for a stopping PostgreSQL, up to a limit', async (t) => {
    const dataDir = await preparedFolder(t)
    const first = startServer(t, { dataDir })
    await query(await first.url, 'create table note (text text)')
    const pid = await postmasterPid(dataDir)
    process.kill(pid, 'SIGSTOP')
    first.process.kill('SIGKILL')
    await first.exited

    const identity = 'self'
    const binaries = { native: '', initdb: '', postgres: '' }
    const places = {
      dataDir,
      folder: join(dataDir, 'postgres'),
      log: '',
      socketDir: await socketFolder(dataDir, identity),
      cacheMb: 128
    }
    await assert.rejects(letPreviousEnd({ ...places, identity, binaries }, silent, undefined, 100), {
      name: 'OperatorError',
      message: `The previous PostgreSQL (pid ${pid}) on ${dataDir} does not stop. End it with \`kill -QUIT ${pid}\`, then start again.`
    })

    const said: string[] = []
    const start = startEmbedded({ dataDir, say: (line) => said.push(line) })
    await eventually(async () => assert.equal(said.length, 1), 20_000)
    process.kill(pid, 'SIGCONT')
    const server = await start
    atEnd(t, () => server.stop())
    assert.deepEqual(said, [`waiting for the previous PostgreSQL (pid ${pid}) to stop…`])
    assert.deepEqual(await query(server.url, 'select * from note'), [])
  })

  test('a start right after a kill adopts the running PostgreSQL, which ends with the new process', async (t) => {
    const dataDir = await preparedFolder(t)
    const first = startServer(t, { dataDir })
    await query(await first.url, 'create table note (text text)')
    const pid = await postmasterPid(dataDir)
    // A session of the killed process that would keep its locks.
    const left = new pg.Client({ connectionString: await first.url, application_name: 'tidings' })
    left.on('error', () => {})
    await left.connect()
    await left.query('begin; lock table note')
    first.process.kill('SIGKILL')
    await first.exited

    const second = startServer(t, { dataDir })
    assert.deepEqual(await query(await second.url, 'select * from note'), [])
    assert.deepEqual([await postmasterPid(dataDir), second.said], [pid, []])
    // The watch of the first process must not end the PostgreSQL that the second one uses by now.
    await sleep(4_000)
    assert.equal(isRunning(pid), true)

    second.process.kill('SIGKILL')
    await second.exited
    await until('PostgreSQL has ended with the second one', () => !isRunning(pid))
    assert.match(await readFile(join(dataDir, 'postgres.log'), 'utf8'), /database system is shut down/)
  })

  test('an adopted PostgreSQL is stopped with the service, and restarted when it dies', async (t) => {
    const dataDir = await preparedFolder(t)
    const first = startServer(t, { dataDir })
    await first.url
    first.process.kill('SIGKILL')
    await first.exited
    const said: string[] = []
    const server = await startEmbedded({ dataDir, say: (line) => said.push(line) })
    atEnd(t, () => server.stop())
    const pid = await postmasterPid(dataDir)
    process.kill(pid, 'SIGKILL')
    await until('PostgreSQL answers again', async () => !isRunning(pid) && (await answers(server.url)))
    assert.equal(said[0], 'PostgreSQL ended; starting it again…')
    const next = await postmasterPid(dataDir)
    await server.stop()
    assert.equal(isRunning(next), false)
  })

  test('a kill during the creation of the cluster leaves no partial cluster', async (t) => {
    const dataDir = join(await tempFolder(t), 'data')
    const first = startServer(t, { dataDir })
    const unfinished = async () => (await readdir(dataDir).catch(() => [])).some((name) => name.includes('.new-'))
    await until('initdb is at work', unfinished)
    await sleep(100)
    first.process.kill('SIGKILL')
    await first.exited

    const server = await startEmbedded({ dataDir, say: silent })
    atEnd(t, () => server.stop())
    assert.equal(await answers(server.url), true)
    assert.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'postgres.log', 'tidings.lock', 'tidings.pid'])
  })

  test('Ctrl-C in the terminal reaches Tidings and not PostgreSQL', async (t) => {
    const dataDir = await preparedFolder(t)
    const server = startServer(t, { dataDir })
    const url = await server.url
    // A terminal sends the signal to its own group of processes only.
    const pid = await postmasterPid(dataDir)
    const group = spawn('ps', ['-o', 'pgid=', '-p', String(pid)])
    let text = ''
    for await (const chunk of group.stdout) text += chunk
    assert.equal(Number(text), pid, 'PostgreSQL leads a group of its own')
    assert.equal(await answers(url), true)
  })

  test('the log of PostgreSQL is bounded', async (t) => {
    const log = join(await tempFolder(t), 'postgres.log')
    await boundLog(log)
    await writeFile(log, 'x'.repeat(1_001))
    await boundLog(log, 1_000)
    assert.deepEqual([(await stat(log)).size, (await stat(`${log}.1`)).size], [0, 1_001])
    await writeFile(log, 'y')
    await boundLog(log, 1_000)
    assert.deepEqual([(await stat(log)).size, (await stat(`${log}.1`)).size], [1, 1_001])
  })
})
