import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { openPool } from '../../src/platform/db/db.ts'
import { listsOf, packList } from '../../src/platform/db/lists.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { emptyDatabase } from '../support/database.ts'
import { silentLog } from '../support/log.ts'

const pair = (type: string) => ({
  packed: statement(`test.packed_${type}`, `select to_json($1::${type}[]) as list`),
  // Two casts leave it to the driver, as text.
  plain: statement(`test.plain_${type}`, `select to_json($1::${type}[]) as list where $1::${type}[]::text is not null`)
})
const types = { uuid: pair('uuid'), text: pair('text'), int: pair('int') }
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value, { nil: null }), { maxLength: 60 })
const texts = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    'NULL',
    '{}',
    '"',
    '\\',
    ',',
    'é'.repeat(47),
    '𝄞'.repeat(24),
    '\ud800',
    'x'.repeat(48),
    'x'.repeat(49)
  )
)
const noNul = texts.filter((text) => !text.includes('\0'))

describe('a list of a statement', () => {
  it('arrives in binary as it would as text', async (t) => {
    const { url } = await emptyDatabase(t)
    const pool = openPool({ connectionString: url }, silentLog, 1)
    t.after(() => pool.close())
    const compare = (type: keyof typeof types, values: fc.Arbitrary<unknown[]>) =>
      fc.assert(
        fc.asyncProperty(values, async (list) => {
          assert.ok(packList(type, list))
          assert.deepEqual(await pool.one(types[type].packed, [list]), await pool.one(types[type].plain, [list]))
        }),
        { numRuns: 150 }
      )
    await compare('text', nullable(noNul))
    await compare('int', nullable(fc.oneof(fc.integer(), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1, -0))))
    await compare(
      'uuid',
      nullable(fc.uuid().map((id) => id.replace(/[a-f]/g, (digit) => (id > '8' ? digit.toUpperCase() : digit))))
    )
    for (const type of ['uuid', 'text', 'int'] as const) {
      assert.deepEqual(await pool.one(types[type].packed, [[]]), { list: [] })
      assert.deepEqual(await pool.one(types[type].packed, [null]), { list: null })
    }
  })

  it('that has another value travels as text, and the server explains it as before', async (t) => {
    const { url } = await emptyDatabase(t)
    const pool = openPool({ connectionString: url }, silentLog, 1)
    t.after(() => pool.close())
    const id = randomUUID()
    const wrong: [keyof typeof types, unknown[]][] = [
      ['uuid', ['no id']],
      ['uuid', [id, `${id.slice(0, 35)}g`]],
      ['uuid', [`${id.slice(0, 8)}+${id.slice(9)}`]],
      ['uuid', [`${id.slice(0, 35)}é`]],
      ['int', [1.5]],
      ['int', [2 ** 31]],
      ['int', ['one']],
      ['text', ['a\0b']]
    ]
    for (const [type, list] of wrong) {
      const failureOf = (which: 'packed' | 'plain') =>
        pool.one(types[type][which], [list]).then(
          () => assert.fail(`${type} ${list} was accepted`),
          ({ code }: { code: string }) => code
        )
      assert.equal(await failureOf('packed'), await failureOf('plain'), `${type} ${list}`)
    }
    assert.deepEqual(await pool.one(types.int.packed, [['7']]), { list: [7] })
    assert.deepEqual(await pool.one(types.text.packed, [[7, true]]), { list: ['7', 'true'] })
    assert.deepEqual(await pool.one(types.uuid.packed, [[`{${id}}`]]), { list: [id] })
  })

  it('is found by its one cast', () => {
    const found = (text: string) => [...listsOf(text)]
    assert.deepEqual(found('select $2::uuid[], $10::text[], $3::int[], $1'), [
      [1, 'uuid'],
      [9, 'text'],
      [2, 'int']
    ])
    assert.deepEqual(found('select $1::uuid[], $1::text[], $2::int[], $2::text, $3::bigint[], $4::jsonb[]'), [])
    assert.deepEqual(found('select $1::uuid[] where $1::uuid[] is not null'), [[0, 'uuid']])
  })
})
