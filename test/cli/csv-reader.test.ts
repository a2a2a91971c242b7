import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvRecords } from '../../src/cli/import/csv-reader.ts'

/** Reads a text in chunks of so many bytes. */
async function read(text: string, size = 3) {
  const bytes = Buffer.from(text)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  return (await Array.fromAsync(csvRecords(chunks()))).flat()
}
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
})
