import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/program.ts'
import { startService } from './service.ts'

interface User {
  id: string
  project_user_id: string
  properties: Record<string, unknown>
  created_at: string
  updated_at: string
}

test('users are managed from the command line', async (t) => {
  const { tidings, feed } = await startService(t)

  await t.test('properties that look like JSON are JSON, and --string makes them text', async () => {
    const set = await tidings(
      ...['user', 'set', 'ana', 'plan=premium', 'age=31', 'vip=true', 'left=null', 'code="7"', 'note=a=b', 'empty='],
      ...['--string', 'zip=10001', '--string', 'flag=true', '--json']
    )
    assert.equal(set.code, 0, set.stderr)
    assert.deepEqual(set.json<User>().properties, {
      plan: 'premium',
      age: 31,
      vip: true,
      left: null,
      code: '7',
      note: 'a=b',
      empty: '',
      zip: '10001',
      flag: 'true'
    })
  })

  await t.test('a second set merges, and reads an object from standard input', async () => {
    const merged = await feed('{"plan":"free","x=y":1}', 'user', 'set', 'ana', 'age=32', '--properties', '-', '--json')
    const { properties } = merged.json<User>()
    assert.deepEqual([properties.plan, properties.age, properties['x=y'], properties.vip], ['free', 32, 1, true])
  })

  await t.test('a user is shown with its times and its properties', async () => {
    const { stdout } = await tidings('user', 'get', 'ana')
    assert.match(stdout, /^User +ana$/m)
    assert.match(stdout, /^Created +\d{4}-\d\d-\d\dT[\d:]+Z$/m)
    assert.match(stdout, /^zip +"10001"$/m)
    assert.match(stdout, /^age +32$/m)
    const user = (await tidings('user', 'get', 'ana', '--json')).json<User>()
    assert.deepEqual(Object.keys(user).sort(), ['created_at', 'id', 'project_user_id', 'properties', 'updated_at'])
  })

  await t.test('users are found by properties, which can be indexed', async () => {
    const found = async (...where: string[]) => {
      const options = where.flatMap((one) => ['--where', one])
      const { items } = (await tidings('user', 'list', ...options, '--json')).json<{ items: User[] }>()
      return items.map((user) => user.project_user_id)
    }
    assert.deepEqual(await found('plan=free', 'age=32'), ['ana'])
    assert.deepEqual(await found('age="32"'), [])
    assert.match((await tidings('user', 'list', '--where', 'plan=none')).stdout, /^No user matches\.$/m)
    assert.equal((await tidings('user', 'list', '--where', 'plan')).code, 2)
    assert.match((await tidings('user', 'index', '--add', 'plan', 'age')).stdout, /^plan +(building|ready)/m)
    assert.match((await tidings('user', 'index', '--remove', 'plan', 'age')).stdout, /^No property is indexed/)
  })

  await t.test('any id works, and control characters in it are escaped in lists', async () => {
    const odd = 'Ünï/cö?dé %2F #1 \u001b[31m'.replace('\u001b', '\u200b')
    assert.equal((await tidings('user', 'set', odd, 'a=1')).code, 0)
    assert.equal((await tidings('user', 'get', odd, '--json')).json<User>().project_user_id, odd)
    await tidings('user', 'set', 'bo', `mark=${String.fromCodePoint(27)}[2J`)
    const listed = await tidings('user', 'list')
    assert.ok(!listed.stdout.includes('\u001b') && !listed.stdout.includes('\u200b'))
    assert.match(listed.stdout, /^bo +mark=\\u\{1b\}\[2J /m)
    assert.equal((await tidings('user', 'delete', odd, '--yes')).code, 0)
  })

  await t.test('users are listed, searched and limited', async () => {
    await tidings('user', 'delete', 'demo-user', '--yes')
    for (const id of ['cy', 'di']) await tidings('user', 'set', id)
    const all = (await tidings('user', 'list', '--json')).json<{ items: User[]; next_cursor: null }>()
    assert.deepEqual(
      all.items.map((user) => user.project_user_id),
      ['di', 'cy', 'bo', 'ana']
    )
    assert.equal(all.next_cursor, null)
    assert.match((await tidings('user', 'list', '--search', 'AN')).stdout, /^USER .*\nana [^\n]*\n$/)
    assert.equal((await tidings('user', 'list', '--search', 'zzz')).stdout, 'No user matches.\n')
    assert.match((await tidings('user', 'list', '--limit', '1')).stdout, /^USER .*\ndi [^\n]*\n$/)
  })

  await t.test('a delete without a terminal needs --yes, and an absent user is not found', async () => {
    assert.equal((await tidings('user', 'delete', 'bo')).code, 2)
    assert.equal((await tidings('user', 'get', 'bo')).code, 0)
    assert.equal((await tidings('user', 'delete', 'bo', '--yes')).stdout, 'Deleted the user bo.\n')
    const again = await tidings('user', 'delete', 'bo', '--yes', '--json')
    assert.equal(again.code, 3)
    assert.equal(JSON.parse(again.stderr).code, 'not_found')
    assert.equal((await tidings('user', 'get', 'bo')).code, 3)
  })

  await t.test('an erasure writes a receipt, which proves itself for this user and for no other', async (t) => {
    const file = join(await temporaryFolder(t), 'receipt.json')
    await tidings('user', 'set', 'person-7', 'plan=premium')
    assert.equal((await tidings('user', 'erase', 'person-7')).code, 2)
    const erased = await tidings('user', 'erase', 'person-7', '--yes', '--receipt', file)
    assert.match(erased.stdout, /^Erased the user person-7\.\n[\s\S]*users +1\n[\s\S]*The receipt is in /)
    assert.equal((await tidings('user', 'get', 'person-7')).code, 3)
    assert.ok(!(await readFile(file, 'utf8')).includes('person-7'))
    const proven = await tidings('user', 'verify-erasure', file, '--user', 'person-7')
    assert.equal(proven.stdout, 'The receipt is genuine, and is about the user person-7.\n')
    const other = await tidings('user', 'verify-erasure', file, '--user', 'ana')
    assert.deepEqual([other.code, other.stdout], [1, ''])
    assert.match(other.stderr, /is about another user than ana/)
    await writeFile(file, (await readFile(file, 'utf8')).replace('"users": 1', '"users": 2'))
    assert.match((await tidings('user', 'verify-erasure', file)).stderr, /is not genuine/)
    assert.match((await tidings('user', 'erasures', '--user', 'person-7')).stdout, /^ERASURE .*\n\S+ /)
    assert.equal((await tidings('user', 'erasures', '--user', 'ana')).stdout, 'No erasures.\n')
  })

  await t.test('an erasure that finds nothing says so, and its receipt is valid', async (t) => {
    const file = join(await temporaryFolder(t), 'receipt.json')
    const erased = await tidings('user', 'erase', 'person-8', '--yes', '--receipt', file)
    assert.equal(erased.code, 0, erased.stderr)
    assert.match(erased.stdout, /^Nothing was erased: no user person-8 exists, and no rows name this id\.\n/)
    const proven = await tidings('user', 'verify-erasure', file, '--user', 'person-8')
    assert.equal(proven.stdout, 'The receipt is genuine, and is about the user person-8.\n')
  })

  await t.test('invalid arguments are refused with the reason', async () => {
    const refused: [args: string[], code: number, said: RegExp][] = [
      [['set', 'x', 'plan'], 2, /name=value/],
      [['set', 'x', '=1'], 2, /name=value/],
      [['set', 'x', 'n=12345678901234567890'], 2, /--string n=12345678901234567890/],
      [['set', 'x', 'tags=["a"]'], 2, /^tags: .* cannot be a list\. .* --string 'tags=\["a"\]'/],
      [['set', 'x', 'home={"city":"Bern"}'], 2, /^home: .* cannot be an object/],
      [['set', 'x', '--properties', '[1]'], 2, /must be a JSON object/],
      [['set', 'x', '--properties', '{"a":{}}'], 1, /a/],
      [['set', ''], 1, /project_user_id/],
      [['get', '..'], 2, /cannot be used as an id/],
      [['get'], 2, /Missing required argument 'user'.*tidings user get --help/],
      [['list', '--project', 'nope'], 3, /no project nope/]
    ]
    for (const [args, code, said] of refused) {
      const ran = await tidings('user', ...args)
      assert.equal(ran.code, code, args.join(' '))
      assert.match(ran.stderr, said)
      assert.equal(ran.stdout, '')
    }
    assert.equal((await tidings('user', 'get', 'x')).code, 3)
  })
})
