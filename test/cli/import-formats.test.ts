import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import type { Json } from '../support/http.ts'
import { root } from '../support/program.ts'
import { run, startService, temporaryFolder } from './service.ts'

const fixtures = join(root, 'test/fixtures/moving-in')

/** A zip archive with these files, deflated. */
function zipOf(files: Record<string, string>): Buffer {
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(text)
    const sizes = Buffer.alloc(12)
    sizes.writeUInt32LE(crc32(text))
    sizes.writeUInt32LE(packed.length, 4)
    sizes.writeUInt32LE(Buffer.byteLength(text), 8)
    const lengths = Buffer.alloc(4)
    lengths.writeUInt16LE(name.length)
    const common = Buffer.concat([Buffer.from([20, 0, 0, 0, 8, 0, 0, 0, 0, 0]), sizes, lengths])
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    const offset = Buffer.alloc(14)
    offset.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, offset, Buffer.from(name)]))
    parts.push(local)
    at += local.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, ...directory, end])
}

test('exports of other services are imported', async (t) => {
  const { tidings, dataDir } = await startService(t)
  const file = async (name: string) => {
    await copyFile(join(fixtures, name), join(dataDir, name))
    return join(dataDir, name)
  }
  const notTaken = async (name: string) =>
    (await readFile(`${name}.import.jsonl`, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ line, not_taken, reason }: Json) => [line, not_taken, reason.split(/[;:]/)[0]])
  const user = async (id: string) => (await tidings('user', 'get', id, '--json')).json<Json>()
  const device = async (id: string) => (await tidings('device', 'show', id, '--json')).json<Json>()

  await t.test('OneSignal: users, tags and tokens of apps move; browsers and addresses are named', async () => {
    const csv = await file('onesignal.csv')
    const ran = await tidings('import', 'onesignal', csv, '--infer')
    assert.deepEqual([ran.code, ran.stdout], [1, 'Imported 6 records: 3 users and 3 devices.\n'], ran.stderr)
    const ana = await user('ana')
    assert.deepEqual(ana.properties, { plan: 'premium', level: 7 })
    assert.equal(ana.created_at, '2024-02-01T08:00:00.000Z')
    const phone = await device('b0f1a4c2-0001-4000-8000-000000000001')
    assert.deepEqual(
      [phone.project_user_id, phone.push.type, phone.model, phone.app_version, phone.locale_region, phone.timezone],
      ['ana', 'APNS', 'iPhone15,2', '4.2.1', 'BR', 'America/Sao_Paulo']
    )
    assert.equal((await device('b0f1a4c2-0002-4000-8000-000000000002')).is_push_permission_granted, false)
    assert.equal((await device('b0f1a4c2-0003-4000-8000-000000000003')).project_user_id, null)
    assert.deepEqual(await notTaken(csv), [
      [5, 'device', 'a subscription of a browser belongs to the key pair of OneSignal'],
      [6, 'line', 'an email address is no push token'],
      [7, 'device', 'OneSignal marked the push token as invalid']
    ])
    await writeFile(join(dataDir, 'other.csv'), 'a,b\n1,2\n')
    assert.match(
      (await tidings('import', 'onesignal', join(dataDir, 'other.csv'))).stderr,
      /not an export of OneSignal/
    )
  })

  await t.test('Firebase: accounts as JSON and as CSV, and tokens by CSV', async () => {
    const json = await file('firebase.json')
    assert.equal((await tidings('import', 'firebase', json)).stdout, 'Imported 2 records: 1 user and 0 devices.\n')
    const expected = { email: 'ana@example.com', email_verified: true, name: 'Ana, of Lima', phone: '+51999999999' }
    const { level: _, ...properties } = (await user('ana')).properties
    assert.deepEqual(properties, { plan: 'premium', ...expected })
    assert.deepEqual(await notTaken(json), [
      [3, 'properties', 'customAttributes'],
      [16, 'line', 'the account is disabled']
    ])
    const csv = await file('firebase.csv')
    assert.equal((await tidings('import', 'firebase', csv)).stdout, 'Imported 3 records: 2 users and 0 devices.\n')
    assert.deepEqual(await notTaken(csv), [[3, 'line', 'has 2 columns']])
    assert.equal(
      (await tidings('import', 'csv', await file('tokens.csv'))).stdout,
      'Imported 1 record: 1 user and 1 device.\n'
    )
  })

  await t.test('Braze: profiles as JSON lines and in a zip of several files', async () => {
    const lines = await file('braze.jsonl')
    const ran = await tidings('import', 'braze', lines)
    assert.equal(ran.stdout, 'Imported 4 records: 2 users and 1 device.\n', ran.stderr)
    assert.deepEqual(await notTaken(lines), [
      [1, 'device', 'a subscription of a browser belongs to the key pair of Braze'],
      [1, 'properties', 'custom_attributes'],
      [3, 'line', 'has an alias only, and no push token'],
      [4, 'line', 'is not complete']
    ])
    const { properties } = await user('ana')
    assert.deepEqual([properties.points, properties.timezone, properties.first_name], [120, 'America/Lima', 'Ana'])
    assert.deepEqual([(await device('D-1')).model, (await device('D-1')).os_version], ['iPhone 15', '17.4'])
    assert.match((await tidings('user', 'preferences', 'bo')).stdout, /Opted out +yes/)
    const [ana, bo] = (await readFile(lines, 'utf8')).split('\n')
    const zip = join(dataDir, 'braze.zip')
    await writeFile(zip, zipOf({ 'part-1.txt': `${ana}\n`, 'part-2.txt': `${bo}\n` }))
    const zipped = await tidings('import', 'braze', zip, '--nested', 'text')
    assert.equal(zipped.stdout, 'Imported 2 records: 2 users and 1 device.\n', zipped.stderr)
    assert.equal((await user('ana')).properties.favourites, '["a","b"]')
    await writeFile(zip, 'PK')
    assert.match((await tidings('import', 'braze', zip)).stderr, /is not a zip archive, or is damaged/)
  })

  await t.test('the commands of the guide work, in their order', async () => {
    const guide = await readFile(join(root, 'docs/guides/moving-in.md'), 'utf8')
    await writeFile(join(dataDir, 'users.csv'), /^```text\n(user_id.*?)^```/ms.exec(guide)![1]!)
    for (const name of await readdir(fixtures)) await file(name)
    const blocks = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block).join('')
    const commands = [...blocks.matchAll(/^tidings ([^#\n]+)/gm)].map(([, words]) => words!.trim().split(/ +/))
    assert.ok(commands.length >= 9)
    for (const words of commands) {
      const { code, stdout, stderr } = await tidings(
        ...words.map((word) => (word.includes('.') ? join(dataDir, word) : word))
      )
      // 1: the samples hold lines that cannot be moved.
      assert.ok(code <= 1, `${words.join(' ')}\n${stderr}`)
      assert.match(stdout, /^(Imported|Checked|campaign_id)/)
    }
    assert.equal((await user('ana')).properties.age, 31)
  })
})

test('segments, messages and Liquid of OneSignal and Braze are translated, and the rest is named', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'out'))
  const translated = (service: string, name: string) => run(['translate', service, join(fixtures, name)])

  await t.test('OneSignal: filters, texts by language, tags in texts', async () => {
    const { code, stdout, stderr } = await translated('onesignal', 'onesignal-campaign.json')
    assert.equal(code, 1)
    assert.match(stderr, /Not translated:\n {2}filters\[4\] \(location\): Tidings stores no places/)
    assert.equal(
      stdout,
      `campaign_id: spring-offer
name: Spring offer!
status: draft
segment:
  any:
    - all:
        - attribute: user.plan
          operator: equals
          value: premium
        - attribute: user.last_seen_at
          operator: within_last
          value: 48h
    - all:
        - attribute: device.locale
          operator: equals
          value: BR
        - any: []
message:
  title: 'Hi {{ user.name | default: "you" }}'
  body: '{% if user.level == "7" %}Top{% endif %} {{ trigger.code }}'
  landing_url: https://example.com/{{ user.id }}
  language: en
  translations:
    de:
      title: Hallo {{ user.name }}
`
    )
    await writeFile(join(folder, 'out/spring.yaml'), stdout)
    assert.equal((await run(['campaign', 'lint', '-f', join(folder, 'out')])).code, 0)
  })

  await t.test('Braze: audiences, Liquid, and what has no counterpart', async () => {
    const { code, stdout, stderr } = await translated('braze', 'braze-campaign.json')
    assert.equal(code, 1)
    assert.match(stderr, /audience\.AND\[2\]\.OR\[1\]\.email_subscription_status: Tidings sends no email/)
    assert.match(stdout, /title: "\{\{user\.first_name \| default: 'you'\}\}"/)
    assert.match(
      stdout,
      /body: "?\{\{user\.plan\}\} \{\{trigger\.code\}\}|body: '\{\{user\.plan\}\} \{\{trigger\.code\}\}'/
    )
    await writeFile(join(folder, 'out/spring.yaml'), stdout)
    const linted = await run(['campaign', 'lint', '-f', join(folder, 'out')])
    assert.equal(linted.code, 0, linted.stdout)
    const plain = await translated('braze', 'braze.liquid')
    assert.equal(
      plain.stdout,
      "{% if user.city == 'Lima' %}a{% else %}{% endif %}{{ 'now' | date: '%H', 'Asia/Seoul' }}"
    )
    for (const reason of [/connected_content/, /content blocks/, /abort_message/]) assert.match(plain.stderr, reason)
    assert.match((await run(['translate', 'braze', '-'], { input: '[1' })).stderr, /is not JSON/)
    assert.equal((await run(['translate', 'braze', join(folder, 'none')])).code, 1)
  })
})
