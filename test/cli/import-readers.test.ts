import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readHeader } from '../../src/cli/import/columns.ts'
import { csvTranslator } from '../../src/cli/import/csv.ts'
import { csvRecords } from '../../src/cli/import/csv-reader.ts'
import { jsonRecords } from '../../src/cli/import/json-reader.ts'

async function* chunksOf(text: string, size: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const read = async (text: string, size = 3) => (await Array.fromAsync(csvRecords(chunksOf(text, size)))).flat()
const readJson = async (text: string, size = 3) => (await Array.fromAsync(jsonRecords(chunksOf(text, size)))).flat()
const values = async (text: string) => (await read(text)).map(({ value }) => value)

describe('a CSV file', () => {
  it('has quoted cells with separators, quotes and line feeds, however it is cut into chunks', async () => {
    const text = 'a;b\r\n"x;""y""";2\r\n"1\n2"z;"3"\n\nend;"q"'
    const found = [
      { line: 1, value: ['a', 'b'] },
      { line: 2, value: ['x;"y"', '2'] },
      { line: 3, value: ['1\n2z', '3'] },
      { line: 6, value: ['end', 'q'] }
    ]
    for (const size of [1, 2, 3, 7, 1_000]) assert.deepEqual(await read(text, size), found)
  })

  it('loses a line whose choice cannot be read: its user would get messages', () => {
    const translated = csvTranslator(readHeader(['project_user_id', 'opted_out'], {}))
    const choice = (text: string) => {
      const { preferences, problems } = translated({ line: 2, value: ['ana', text] })
      return problems.length > 0 ? problems : preferences?.opted_out
    }
    assert.deepEqual(['true', 'Yes', '1', 'no', '0', ''].map(choice), [
      true,
      true,
      true,
      undefined,
      undefined,
      undefined
    ])
    for (const text of ['1.0', 'unsubscribed', '2025-03-01'])
      assert.deepEqual(choice(text), [{ part: 'line', reason: 'opted_out: must be true or false' }], text)
  })

  it('may have a quote within a cell, which opens nothing', async () => {
    assert.deepEqual(await values('a,b\nu1,5" pipe\nu2,6" pipe\n'), [
      ['a', 'b'],
      ['u1', '5" pipe'],
      ['u2', '6" pipe']
    ])
  })

  it('loses only the line with a quote that is not closed', async () => {
    assert.deepEqual(await read('a,b\n"u1,x\nu2,y\n'), [
      { line: 1, value: ['a', 'b'] },
      { line: 2, value: [], fault: 'has a quote that is not closed' },
      { line: 3, value: ['u2', 'y'] }
    ])
  })

  it('may have a line feed in the name of a column', () => {
    const [, second] = readHeader(['user_id', 'first\nname:text'], {})
    assert.equal(second!.field, 'properties.first\nname')
  })
})

describe('a JSON file', () => {
  it('is a list, an object around a list, or lines, with or without a mark of its encoding', async () => {
    const texts = ['[{"a":1},{"a":"]"}]', '{"users": [{"a":1},{"a":"]"}], "total": 2}', '\ufeff{"a":1}\n{"a":"]"}\n']
    for (const text of texts)
      for (const size of [1, 2, 5, 1_000])
        assert.deepEqual(
          (await readJson(text, size)).map(({ value }) => value),
          [{ a: 1 }, { a: ']' }]
        )
    assert.deepEqual([await readJson('[]'), await readJson('{"users": []}'), await readJson('')], [[], [], []])
  })

  it('names each line with something that is no object', async () => {
    const fault = 'is not a JSON object'
    assert.deepEqual(await readJson('one\n{"a":1}\ntwo three\n'), [
      { line: 1, value: undefined, fault },
      { line: 2, value: { a: 1 } },
      { line: 3, value: undefined, fault }
    ])
    assert.deepEqual(await readJson('['.repeat(1_000)), [{ line: 1, value: undefined, fault }])
  })
})

it('a file that is no table is refused by a short sentence', () => {
  const binary = Array.from({ length: 500 }, (_, n) => `\u001b[2J${'x'.repeat(200)}${n}`)
  assert.throws(
    () => readHeader(binary, {}),
    ({ message }: Error) => message.length < 2_500 && message.includes('and 480 more')
  )
})
