import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { apnsBody, serviceAccount, vapidBody } from '../gateways/credentials.ts'
import { migratedDatabase } from '../support/database.ts'
import { startProgram } from '../support/program.ts'
import { type Ran, run, startService, temporaryFolder } from './service.ts'

interface Shown {
  gateway: string
  credentials: Record<string, unknown>[]
}

test('credentials are set, listed, checked and removed from the command line', async (t) => {
  const { tidings } = await startService(t)
  const folder = await temporaryFolder(t)
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const apns = await apnsBody()
  const account = await serviceAccount()
  const keyFile = await write(`AuthKey_${apns.key_id}.p8`, apns.key)
  const apnsArgs = ['--key-id', apns.key_id, '--team-id', apns.team_id, '--topic', 'com.example.app']
  const everything: Ran[] = []
  const gateway = async (...args: string[]) => {
    const ran = await tidings('gateway', ...args)
    everything.push(ran)
    return ran
  }

  await t.test('a key of Apple is saved for both environments by default', async () => {
    const set = await gateway('set', 'apns', '--key', keyFile, ...apnsArgs)
    assert.equal(set.code, 0, set.stderr)
    assert.match(set.stdout, /^Environment +production$[\s\S]*^Environment +sandbox$/m)
    assert.match(set.stdout, new RegExp(`^Key id +${apns.key_id}$`, 'm'))
    assert.match(set.stderr, /Saved\. Try it: tidings gateway check apns/)
    const one = await gateway('set', 'apns', '--key', keyFile, ...apnsArgs, '--environment', 'sandbox', '--json')
    const { credentials } = one.json<Shown>()
    assert.deepEqual(
      credentials.map(({ environment, version }) => [environment, version]),
      [['sandbox', 2]]
    )
  })

  await t.test('a service account is saved, and a Web Push subject with a generated or given key pair', async () => {
    const file = await write('service-account.json', JSON.stringify(account))
    const set = await gateway('set', 'fcm', '--service-account', file)
    assert.equal(set.code, 0, set.stderr)
    assert.match(set.stdout, /^Firebase project +shop-4711$/m)
    const made = await gateway('set', 'webpush', '--subject', 'mailto:push@example.com')
    assert.match(made.stdout, /^Public key +B[\w-]{86}$/m)
    const pair = vapidBody()
    const privateFile = await write('vapid.key', `${pair.private_key}\n`)
    const brought = await gateway(
      ...['set', 'webpush', '--subject', 'mailto:push@example.com'],
      ...['--public-key', pair.public_key, '--private-key', `@${privateFile}`, '--json']
    )
    assert.equal(brought.json<Shown>().credentials[0]!.public_key, pair.public_key)
    assert.ok(!brought.stdout.includes(pair.private_key))
  })

  await t.test('list shows no secrets, and a check of a valid credential ends with 0', async () => {
    const listed = await gateway('list')
    assert.match(listed.stdout, /^GATEWAY +ENVIRONMENT +FOR +ACCOUNT +FINGERPRINT +UPDATED$/m)
    assert.match(listed.stdout, /^apns +production +com\.example\.app /m)
    assert.match(listed.stdout, /^fcm +- +shop-4711 +simulator@shop-4711\.iam\.gserviceaccount\.com /m)
    assert.equal((await gateway('list', '--json')).json<{ items: unknown[] }>().items.length, 4)
    const checked = await gateway('check', 'webpush')
    assert.deepEqual([checked.code, checked.stderr], [0, ''])
    assert.match(checked.stdout, /^ok {4}mailto:push@example\.com {2}The key pair signs\./)
  })

  await t.test('invalid credentials are refused with the reason, and nothing is saved', async () => {
    const wrong = await write('wrong.p8', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
    const certificate = await gateway('set', 'apns', '--key', wrong, ...apnsArgs)
    assert.equal(certificate.code, 1)
    assert.match(certificate.stderr, /^key: this is a certificate, not the private key/)
    const json = await gateway('set', 'fcm', '--service-account', keyFile, '--json')
    assert.deepEqual([json.code, JSON.parse(json.stderr).code], [1, 'invalid_credential'])
    assert.ok(!json.stderr.includes(apns.key.split('\n')[1]!))
    const absent = await gateway('set', 'fcm', '--service-account', join(folder, 'none.json'))
    assert.deepEqual([absent.code, /none\.json cannot be read: no such file/.test(absent.stderr)], [1, true])
    assert.match((await gateway('set', 'fcm', '--service-account', folder)).stderr, /it is a folder/)
    assert.equal((await gateway('set', 'apns', '--key', keyFile)).code, 2)
    assert.equal((await gateway('set', 'gcm')).code, 2)
    assert.equal((await gateway('check', 'gcm')).code, 3)
  })

  await t.test('remove deletes the credential of one environment or of all', async () => {
    const unsure = await gateway('remove', 'apns')
    assert.deepEqual([unsure.code, /Give --yes to confirm/.test(unsure.stderr)], [2, true])
    const { code, stdout } = await gateway('remove', 'apns', '--environment', 'sandbox', '--yes')
    assert.deepEqual([code, stdout], [0, 'Removed the credential for apns from demo.\n'])
    assert.equal((await gateway('remove', 'apns', '--environment', 'sandbox', '--yes')).code, 3)
    for (const name of ['apns', 'fcm', 'webpush']) assert.equal((await gateway('remove', name, '-y')).code, 0)
    assert.match((await gateway('list')).stdout, /^No gateway credentials yet\. /m)
    assert.equal((await gateway('check', 'fcm')).code, 3)
  })

  await t.test('none of these commands printed a secret', () => {
    const printed = everything.map(({ stdout, stderr }) => stdout + stderr).join('')
    for (const pem of [apns.key, account.private_key]) assert.ok(!printed.includes(pem.split('\n')[1]!.slice(8, 40)))
  })
})

test('the service logs no secret, at any level', async (t) => {
  const { url: databaseUrl } = await migratedDatabase(t)
  const dataDir = await temporaryFolder(t)
  const program = startProgram(t, { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace' })
  await program.ready
  const env = { DATA_DIR: dataDir }
  const account = await serviceAccount()
  const broken = { ...account, client_email: 'x' }
  for (const [name, value] of Object.entries({ good: account, broken })) {
    await writeFile(join(dataDir, name), JSON.stringify(value))
    await run(['gateway', 'set', 'fcm', '--service-account', join(dataDir, name)], { env })
  }
  program.child.kill()
  await program.exited
  assert.match(program.stderr(), /started/, 'the log was read')
  assert.ok(!program.stderr().includes(account.private_key.split('\n')[1]!.slice(8, 40)))
})
