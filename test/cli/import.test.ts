import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventually } from '../support/eventually.ts'
import type { Json } from '../support/http.ts'
import { bare, binary, run, startService } from './service.ts'

const apns = (n: number) => n.toString(16).padStart(64, '0')
const reportOf = async (file: string): Promise<Json[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false
  )

test('users, devices and tokens come from CSV', async (t) => {
  const { tidings, feed, dataDir } = await startService(t)
  const file = (name: string) => join(dataDir, name)
  const device = async (id: string) => (await tidings('device', 'show', id, '--json')).json<Json>()
  const user = async (id: string) => (await tidings('user', 'get', id, '--json')).json<Json>()
  const people = `user_id,name,age:number,vip:boolean,push_token,platform,Zip,last_active
ana,"Ana ""A."", Lima",31,yes,${apns(1)},ios,01234,2026-01-02 03:04:05 UTC
ana,,,,${apns(2)},ios,,
bo,Bo,,,,,,1767225600
,,,,${apns(3)},,,
cy,Cy,old,,tok,windows,9,
,,,,,,,
`

  await t.test('a dry run says what each column becomes and what would be refused, without a service', async () => {
    await writeFile(file('people.csv'), people)
    const { code, stdout, stderr } = await run(['import', 'csv', file('people.csv'), '--dry-run'])
    assert.equal(code, 1, stderr)
    assert.equal(stdout, 'Checked 6 records: 3 users and 3 devices.\n')
    assert.match(stderr, /^age:number +properties\.age +number$/m)
    assert.match(stderr, /^user_id +project_user_id +-$/m)
    assert.match(stderr, /^ +1 {2}platform: must be IOS, ANDROID or WEB$/m)
    assert.deepEqual(
      (await reportOf(file('people.csv.dry-run.jsonl'))).map(({ line, not_taken }) => [line, not_taken]),
      [
        [6, 'properties'],
        [6, 'device'],
        [7, 'line']
      ]
    )
    assert.equal((await tidings('user', 'get', 'ana')).code, 3)
  })

  await t.test('the import stores the rest, and a repeat changes nothing', async () => {
    for (const _ of ['first', 'again']) {
      const ran = await tidings('import', 'csv', file('people.csv'), '--json')
      assert.deepEqual([ran.code, ran.json<Json>().users, ran.json<Json>().devices], [1, 3, 3], ran.stderr)
      const ana = await user('ana')
      assert.deepEqual(ana.properties, { name: 'Ana "A.", Lima', age: 31, vip: true, Zip: '01234' })
      assert.equal(
        (await tidings('device', 'list', '--json')).json<Json>().items.length,
        3 + 3,
        'and those of a first start'
      )
    }
    assert.equal(await exists(file('people.csv.import.jsonl.state')), false)
    const [first] = (await tidings('device', 'list', '--json'))
      .json<Json>()
      .items.filter((one: Json) => one.project_user_id === null)
    assert.deepEqual([first.platform, first.push.type], ['IOS', 'APNS'])
    assert.match(first.id, /^imported-[0-9a-f]{32}$/)
  })

  await t.test('columns are mapped, gzip and standard input are read, and separators are found', async () => {
    const table = 'Kunde;Alter;Gerät;Token;os\nx;7;d1;t:1;android\n'
    await writeFile(file('de.csv.gz'), gzipSync(`\ufeff${table}`))
    const map = ['--map', 'Kunde=project_user_id', '--map', 'Alter=properties.age:number', '--map', 'Gerät=device_id']
    assert.equal(
      (await tidings('import', 'csv', file('de.csv.gz'), ...map)).stdout,
      'Imported 1 record: 1 user and 1 device.\n'
    )
    assert.deepEqual((await user('x')).properties, { age: 7 })
    assert.deepEqual([(await device('d1')).project_user_id, (await device('d1')).push.type], ['x', 'FCM'])
    const fed = await feed(
      table.replace('x;7', 'y;8'),
      'import',
      'csv',
      '-',
      '--report',
      file('in.jsonl'),
      '--infer',
      ...map
    )
    assert.equal(fed.code, 0, fed.stderr)
    assert.equal((await device('d1')).project_user_id, 'y')
  })

  await t.test('properties of a line without a user are reported once a user has logged in on its device', async () => {
    await writeFile(file('late.csv'), 'device_id,platform,push_token,city\nd1,android,t:1,Lima\n')
    const { code, stdout } = await tidings('import', 'csv', file('late.csv'))
    assert.deepEqual([code, stdout], [1, 'Imported 1 record: 0 users and 1 device.\n'])
    const [left] = await reportOf(file('late.csv.import.jsonl'))
    assert.deepEqual([left.line, left.device, left.not_taken, left.code], [2, 'd1', 'properties', 'conflict'])
    assert.match(left.reason, /^a user with a project_user_id has logged in/)
  })

  await t.test('wrong files and columns are refused with what to do', async () => {
    for (const [text, args, expected] of [
      ['name,age\na,1\n', [], /No column names the user or a push token.*--map "name=project_user_id"/],
      ['user_id,uid\na,b\n', [], /"user_id" and "uid" both become project_user_id/],
      ['user_id\na\n', ['--map', 'x=project_user_id'], /There is no column "x"/],
      ['user_id\na\n', ['--map', 'user_id=nothing'], /Fields: project_user_id/],
      ['user_id\na\n', ['--map', 'user_id=properties.a:date'], /the type must be one of/],
      ['', [], /is empty/],
      [gzipSync('user_id\na\n').subarray(0, 20), [], /is damaged/]
    ] as const) {
      await writeFile(file('wrong.csv'), text)
      const { code, stderr } = await tidings('import', 'csv', file('wrong.csv'), ...args)
      assert.match(stderr, expected)
      assert.ok(code === 1 || code === 2)
    }
    assert.match((await tidings('import', 'csv', file('none.csv'))).stderr, /none\.csv does not exist/)
    const denied = await tidings('import', 'csv', file('people.csv'), '--key', 'svc_sk_wrong')
    assert.deepEqual([denied.code, /does not accept the key for the project/.test(denied.stderr)], [4, true])
  })

  await t.test('an import that was killed goes on where it stopped, with a report that is whole', async () => {
    const lines = Array.from({ length: 12_000 }, (_, n) =>
      n % 400 === 7 ? `u${n},${apns(n)},beos` : `u${n},${apns(n)},ios`
    )
    const large = file('large.csv')
    await writeFile(large, `user_id,push_token,platform\n${lines.join('\n')}\n`)
    const child = spawn(process.execPath, [binary, 'import', 'csv', large], {
      env: bare({ DATA_DIR: dataDir }),
      stdio: 'ignore'
    })
    t.after(() => child.kill('SIGKILL'))
    await eventually(async () => assert.ok(await exists(`${large}.import.jsonl.state`)), 60_000)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { records } = JSON.parse(await readFile(`${large}.import.jsonl.state`, 'utf8'))
    assert.ok(records >= 500)
    // A killed process may have written more than its state says.
    await writeFile(`${large}.import.jsonl`, '{"line":', { flag: 'a' })
    const ran = await tidings('import', 'csv', large)
    assert.match(ran.stderr, /^Going on after [\d,]+ records of an interrupted run\./m)
    assert.equal(ran.stdout, 'Imported 12,000 records: 12,000 users and 11,970 devices.\n', ran.stderr)
    const report = await reportOf(`${large}.import.jsonl`)
    assert.deepEqual(
      report.map(({ line }) => line),
      Array.from({ length: 30 }, (_, n) => 400 * n + 9)
    )
    assert.equal((await user('u11999')).project_user_id, 'u11999')
  })
})
