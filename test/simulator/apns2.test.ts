import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { simulator } from './client.ts'

const run = promisify(execFile)

test('the library apns2 pushes to the simulated APNs, and gets 410 for a dead token', async (t) => {
  const sim = await simulator(t, { fcm: false, webpush: false, apns: { streams: 1_000 } })
  const folder = await mkdtemp(join(tmpdir(), 'tidings-apns2-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { keyId, teamId, privateKey } = sim.credentials.apns
  await writeFile(join(folder, 'ca.pem'), sim.ca)
  // In a process of its own, because it trusts only the authorities that Node was started with.
  const setup = JSON.stringify({ origin: sim.apns!.url, team: teamId, keyId, signingKey: privateKey })
  const client = join(import.meta.dirname, 'apns2-client.ts')
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
  const { stdout } = await run(process.execPath, [client, setup], { env, timeout: 30_000 })
  assert.deepEqual(JSON.parse(stdout), ['accepted', 'Unregistered'])
  const [accepted, gone] = sim.ledger.items()
  assert.deepEqual([accepted?.title, accepted?.answer.status], ['From', 200])
  assert.equal(gone?.answer.status, 410)
})
