import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { anotherNode, of, pushApns } from '../simulator/nodes.ts'
import { eventually, type TestService } from '../support/service.ts'
import { bare, binary, type Running, startService } from './service.ts'

/** Another process on the service's database, which sends. */
async function nodeBeside(t: Parameters<typeof anotherNode>[0], { databaseUrl, dataDir }: Running) {
  const MASTER_KEY = Buffer.from(await readFile(join(dataDir, 'master.key'), 'utf8'), 'base64')
  const devicesOf = async (_: unknown, names: string[]) => new Map(names.map((name) => [name, 'demo-iphone']))
  return anotherNode(t, { databaseUrl, config: { MASTER_KEY } } as TestService, { devicesOf })
}

test('simulated devices and their inbox are managed from the command line', async (t) => {
  const service = await startService(t)
  const { tidings } = service
  const gateways = await of(await nodeBeside(t, service), 'demo')

  await t.test('the demo devices are listed and shown', async () => {
    const listed = await tidings('device', 'list', '--user', 'demo-user')
    assert.match(listed.stdout, /^DEVICE +USER +PLATFORM +PUSH +SEEN\n/)
    assert.match(listed.stdout, /^demo-iphone +demo-user +IOS +APNS /m)
    const shown = await tidings('device', 'show', 'demo-browser')
    assert.match(shown.stdout, /^Platform +WEB$/m)
    assert.match(shown.stdout, /^Push +WEBPUSH$/m)
    const absent = await tidings('device', 'show', 'nothing')
    assert.deepEqual([absent.code, absent.stdout], [3, ''])
  })

  await t.test('a simulated device is added for a user', async () => {
    const added = await tidings('device', 'add', 'android', '--user', 'ana', '--id', 'ana-phone', '--json')
    assert.equal(added.json<{ id: string }>().id, 'ana-phone')
    assert.match((await tidings('device', 'list', '--user', 'ana')).stdout, /^ana-phone +ana +ANDROID +FCM /m)
    assert.equal((await tidings('device', 'add', 'toaster')).code, 2)
    await tidings('project', 'create', 'Live', '--id', 'live', '--mode', 'live')
    const live = await tidings('device', 'add', 'ios', '-p', 'live')
    assert.equal(live.code, 1)
    assert.match(live.stderr, /is live/)
  })

  await t.test('inbox shows pushes oldest first, with the response', async () => {
    assert.equal(
      (await tidings('inbox')).stdout,
      'No pushes yet. Send one with `tidings send --user demo-user --title Hello`.\n'
    )
    await pushApns(t, gateways, 'aa01', 'Hello', { landing_url: 'shop://cart' })
    await pushApns(t, gateways, 'sim-410-1', 'Bye\u001b[2J')
    const ran = await eventually(async () => {
      const shown = await tidings('inbox')
      assert.match(shown.stdout, /Bye/)
      return shown
    })
    assert.match(
      ran.stdout,
      /^\d\d:\d\d:\d\d {2}apns {2}demo-iphone {2}200\n {2}Hello\n {2}World\n {2}opens shop:\/\/cart\n\n\d\d:\d\d:\d\d {2}apns {2}demo-iphone {2}410 Unregistered\n {2}Bye\\u\{1b\}\[2J\n {2}World\n/
    )
    const { items } = (await tidings('inbox', '--json')).json<{ items: { title: string }[] }>()
    assert.deepEqual(
      items.map(({ title }) => title),
      ['Bye\u001b[2J', 'Hello']
    )
    assert.equal((await tidings('inbox', '--device', 'other')).stdout, 'No pushes for the device other.\n')
  })

  await t.test('--watch shows the newest pushes and every later one once, until Ctrl-C', async () => {
    const child = spawn(process.execPath, [binary, 'inbox', '--watch', '--json', '--limit', '1'], {
      env: bare({ DATA_DIR: service.dataDir }),
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let seen = ''
    child.stdout.on('data', (chunk) => {
      seen += chunk
    })
    const titles = () =>
      seen
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).title)
    await eventually(() => assert.equal(titles().length, 1), 30_000)
    for (const title of ['one', 'two']) await pushApns(t, gateways, 'aa01', title)
    await eventually(() => assert.deepEqual(titles().slice(1), ['one', 'two']), 30_000)
    child.kill('SIGINT')
    const [code] = await once(child, 'exit')
    assert.equal(code, 0)
  })

  await t.test('a simulated phone goes offline and back, and its notifications are tapped and dismissed', async () => {
    const send = (title: string) => tidings('send', '--user', 'ana', '--title', title)
    assert.match((await tidings('device', 'set', 'ana-phone', '--offline')).stdout, /^ana-phone: offline\n/)
    for (const title of ['one', 'two']) assert.equal((await send(title)).code, 0)
    assert.match((await tidings('device', 'screen', 'ana-phone')).stdout, /offline, 2 pushes waiting\n {2}No notif/)
    assert.match((await tidings('device', 'set', 'ana-phone', '--online')).stdout, /two\n.*one/)
    assert.equal((await tidings('device', 'tap', 'ana-phone')).stdout, 'Tapped.\n')
    assert.equal((await tidings('device', 'dismiss', 'ana-phone')).stdout, 'Dismissed.\n')
    const empty = await tidings('device', 'tap', 'ana-phone')
    assert.deepEqual([empty.code, empty.stderr], [3, 'The phone ana-phone shows no notification.\n'])
    assert.equal((await tidings('device', 'set', 'ana-phone')).code, 2)
    assert.equal((await tidings('device', 'set', 'ana-phone', '--online', '--offline')).code, 2)
    await tidings('device', 'set', 'ana-phone', '--uninstall')
    const gone = await send('gone')
    assert.match(gone.stdout + gone.stderr, /UNREGISTERED/)
  })
})
