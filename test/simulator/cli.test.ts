import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Credentials } from '../../src/simulator/simulator.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { alert, apnsHeaders, connect, request } from './client.ts'

async function start(t: TestContext, ...options: string[]) {
  const folder = join(await temporaryFolder(t), 'simulator')
  const program = startProgram(t, {}, [process.execPath, 'bin/tidings.js', 'simulate', '--folder', folder, ...options])
  program.ready.catch(() => {}) // It waits for the greeting of the service, which never comes.
  return { folder, program }
}

async function until<Found>(find: () => Found | undefined | null | false, what: string): Promise<Found> {
  for (let waited = 0; waited < 30_000; waited += 50) {
    const found = find()
    if (found) return found
    await delay(50)
  }
  throw new Error(`${what} did not come`)
}

async function push(t: TestContext, url: string, folder: string): Promise<number> {
  const credentials = JSON.parse(await readFile(join(folder, 'simulator.json'), 'utf8')) as Credentials
  const session = await connect(t, url, await readFile(join(folder, 'ca.pem'), 'utf8'))
  const headers = await apnsHeaders({ credentials } as Parameters<typeof apnsHeaders>[0])
  return (await request(session, '/3/device/sim-ok-1', headers, alert)).status
}

test('tidings simulate prints addresses, files and each push, and Ctrl-C ends it with 0', async (t) => {
  const { folder, program } = await start(t)
  await until(() => program.stdout().includes('Pushes appear here'), 'the greeting')
  const url = /^APNs +(\S+)$/m.exec(program.stdout())![1]!
  for (const file of program.stdout().match(/^ {2}\S+$/gm)!) await readFile(file.trim())
  const account = JSON.parse(await readFile(join(folder, 'service-account.json'), 'utf8'))
  assert.ok(program.stdout().includes(account.token_uri))
  assert.equal(await push(t, url, folder), 200)
  await until(() => /apns +200 {2}sim-ok-1 {2}Hello: World/.test(program.stdout()), 'the push')
  program.child.kill('SIGINT')
  assert.equal((await program.exited).code, 0, program.stderr())
})

test('tidings simulate --json prints a line of JSON for the start and for each push', async (t) => {
  const { folder, program } = await start(t, '--json')
  const lines = () => program.stdout().split('\n').slice(0, -1)
  const first = JSON.parse(await until(() => lines()[0], 'the start'))
  assert.equal(first.folder, folder)
  await push(t, first.apns_url, folder)
  const second = JSON.parse(await until(() => lines()[1], 'the push'))
  assert.deepEqual([second.gateway, second.title, second.answer.status], ['apns', 'Hello', 200])
  program.child.kill('SIGTERM')
  assert.equal((await program.exited).code, 0)
})
