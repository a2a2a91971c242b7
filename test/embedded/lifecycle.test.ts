import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { readConfig } from '../../src/platform/config/config.ts'
import { databaseBytes, usualCacheMb } from '../../src/platform/db/embedded/cache.ts'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { explain } from '../../src/platform/db/embedded/log.ts'
import { stopPostmaster } from '../../src/platform/db/embedded/postmaster.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import {
  atEnd,
  isRunning,
  postmasterPid,
  preparedFolder,
  query,
  startServer,
  stopServer,
  tempFolder,
  until
} from './support/embedded.ts'

const silent = () => {}

test('a first start makes the database, and a later one finds its rows', async (t) => {
  // A deep path with every character that a careless command line would mishandle.
  const dataDir = join(await tempFolder(t), `It's "my" data, größer ${'x'.repeat(100)}`, 'deep')
  const began = performance.now()
  const first = await startEmbedded({ dataDir, say: silent })
  t.diagnostic(`first start: ${Math.round(performance.now() - began)} ms`)
  assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
  assert.equal((await stat(join(dataDir, 'postgres'))).mode & 0o777, 0o700)
  await query(first.url, 'create table note (text text)')
  await query(first.url, `insert into note values ('kept')`)
  const pid = await postmasterPid(dataDir)
  await first.stop()
  assert.equal(isRunning(pid), false)

  const again = performance.now()
  const second = await startEmbedded({ dataDir, say: silent })
  t.diagnostic(`later start: ${Math.round(performance.now() - again)} ms`)
  atEnd(t, () => second.stop())
  assert.equal(second.url, first.url)
  assert.deepEqual(await query(second.url, 'select text from note'), [{ text: 'kept' }])
  assert.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'postgres.log', 'tidings.lock', 'tidings.pid'])
})

test('it is durable, private, knows Unicode, and other databases are reached by the path of its url', async (t) => {
  const dataDir = await preparedFolder(t)
  const server = await startEmbedded({ dataDir, say: silent, cacheMb: 160 })
  atEnd(t, () => server.stop())
  const wanted = {
    data_checksums: 'on',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    server_encoding: 'UTF8',
    listen_addresses: '',
    jit: 'off',
    max_connections: '200',
    shared_buffers: '160MB',
    TimeZone: 'UTC'
  }
  for (const [name, value] of Object.entries(wanted)) {
    assert.deepEqual(Object.values((await query(server.url, `show ${name}`))[0]!), [value], name)
  }
  const [row] = await query(
    server.url,
    `select lower('ÄÉΩ') as lower, 'a' > 'B' as by_code_point, current_user as role`
  )
  assert.deepEqual(row, { lower: 'äéω', by_code_point: true, role: 'tidings' })

  const url = new URL(server.url)
  const socketDir = url.searchParams.get('host')!
  assert.equal((await stat(socketDir)).mode & 0o777, 0o700)
  url.pathname = '/postgres'
  assert.deepEqual(await query(url.href, 'select current_database() as name'), [{ name: 'postgres' }])
  await server.stop()
  await assert.rejects(stat(socketDir), { code: 'ENOENT' })
})

test('its memory follows the size of its database, and DATABASE_CACHE_MB is used instead where it is set', async (t) => {
  const dataDir = await preparedFolder(t)
  const folder = join(dataDir, 'postgres')
  const cacheOf = async (env: NodeJS.ProcessEnv) => {
    const { connection, stop } = await openDatabase(readConfig({ DATA_DIR: dataDir, ...env }), silent)
    try {
      return Object.values((await query(connection.connectionString!, 'show shared_buffers'))[0]!)
    } finally {
      await stop()
    }
  }
  assert.deepEqual(await cacheOf({ DATABASE_CACHE_MB: '96' }), ['96MB'])
  // A file of a database, of which no byte is written.
  const [database] = (await readdir(join(folder, 'base'))).filter((name) => Number(name) >= 16_384)
  const large = join(folder, 'base', database!, 'large')
  await writeFile(large, '')
  await truncate(large, 600 * 1024 ** 2)
  assert.deepEqual(await cacheOf({}), [`${usualCacheMb(databaseBytes(folder))}MB`])
})

test('a cache that is larger than the memory is named as the reason why PostgreSQL does not start', () => {
  const refused = 'FATAL:  could not map anonymous shared memory: Cannot allocate memory'
  assert.match(explain({ dataDir: '/data', log: '' }, refused).message, /lower DATABASE_CACHE_MB/)
})

test('the cache is half of the database, within 128 MB, 1 GB and an eighth of the memory', () => {
  const [mb, gb] = [1024 ** 2, 1024 ** 3]
  const cached = ([database, memory]: [number, number]) => usualCacheMb(database, memory)
  const sizes: [number, number][] = [
    [20 * mb, 24 * gb],
    [600 * mb, 24 * gb],
    [9 * gb, 24 * gb],
    [9 * gb, 2 * gb],
    [9 * gb, gb / 2]
  ]
  assert.deepEqual(sizes.map(cached), [128, 300, 1_024, 256, 128])
})

test('a second start on the same data folder is refused and the first goes on', async (t) => {
  const dataDir = await preparedFolder(t)
  const server = await startEmbedded({ dataDir, say: silent })
  atEnd(t, () => server.stop())
  const refusal = {
    name: 'OperatorError',
    message: `Tidings already runs on ${dataDir} (pid ${process.pid}). Stop it first, or set DATA_DIR to another folder.`
  }
  await assert.rejects(startEmbedded({ dataDir, say: silent }), refusal)
  await assert.rejects(startServer(t, { dataDir }).url, refusal)
  assert.deepEqual(await query(server.url, 'select 1 as one'), [{ one: 1 }])
  assert.equal((await stat(join(dataDir, 'tidings.pid'))).isFile(), true)
})

test('a killed PostgreSQL starts again in a container, where its process id is soon used again', async (t) => {
  const dataDir = await preparedFolder(t)
  // Like a container, a namespace numbers its processes from 1, and ends with the first of them.
  const before = ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc']
  try {
    execFileSync('unshare', [...before.slice(1), 'true'], { stdio: 'ignore' })
  } catch {
    return
  }
  for (const end of ['kill', 'kill', 'kill', 'stop'] as const) {
    const server = startServer(t, { dataDir, before })
    assert.deepEqual(await query(await server.url, 'select 1 as one'), [{ one: 1 }])
    if (end === 'stop') await stopServer(server)
    else server.process.kill('SIGKILL')
    await server.exited
  }
})

test('a stop ends open sessions, and stopping twice is no fault', async (t) => {
  const server = await startEmbedded({ dataDir: await preparedFolder(t), say: silent })
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', silent)
  await client.connect()
  const waiting = assert.rejects(client.query('select pg_sleep(60)'))
  let died = false
  void server.exited.then(() => {
    died = true
  })
  await Promise.all([server.stop(), server.stop()])
  await waiting
  await server.stop()
  assert.equal(died, false, 'a stop that was asked for is no death')
})

test('a PostgreSQL that does not heed the request to stop is ended at once, with a word about it', async () => {
  const deaf = spawn('/bin/sh', ['-c', 'trap "" INT; echo ready; while :; do sleep 0.05; done'], { detached: true })
  await new Promise((ready) => deaf.stdout.once('data', ready))
  const ended = new Promise<string>((done) => void deaf.on('exit', (_, signal) => done(String(signal))))
  const said: string[] = []
  await stopPostmaster({ pid: deaf.pid!, ended }, (line) => said.push(line), 200)
  assert.equal(await ended, 'SIGQUIT')
  assert.deepEqual(said, ['PostgreSQL does not stop and is ended at once. It recovers at the next start.'])
})

test('a start that is called off leaves nothing behind', async (t) => {
  const dataDir = join(await tempFolder(t), 'data')
  const calledOff = new AbortController()
  const start = startEmbedded({ dataDir, say: silent, signal: calledOff.signal })
  const outcome = assert.rejects(start, { name: 'AbortError' })
  const unfinished = async () => (await readdir(dataDir).catch(() => [])).some((name) => name.includes('.new-'))
  await until('initdb is at work', unfinished)
  calledOff.abort()
  await outcome
  assert.deepEqual(await readdir(dataDir), ['tidings.lock'])
})
