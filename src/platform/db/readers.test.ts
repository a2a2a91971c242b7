import assert from 'node:assert/strict'
import { it } from 'node:test'
import pg from 'pg'
import { installReaders, readTime } from './readers.ts'

const general = pg.types.getTypeParser(1184, 'text') as (text: string) => Date

it('a time of any form and precision is read as the driver reads it', () => {
  const texts = ['', '.1', '.12', '.123', '.1234', '.999999', '.000001'].flatMap((part) => [
    `2026-11-17 22:00:01${part}+00`,
    `1999-12-31 23:59:59${part}+00`,
    `2024-02-29 00:00:00${part}+00`,
    `2026-11-17 22:00:01${part}+02`,
    `2026-11-17 22:00:01${part}-03:30`,
    `0099-01-01 00:00:00${part}+00`,
    `12026-11-17 22:00:01${part}+00`,
    `0044-03-15 12:00:00${part}+00 BC`
  ])
  for (const text of [...texts, 'infinity', '-infinity']) assert.deepEqual(readTime(text), general(text), text)
})

it('a name in json and jsonb is read as it is stored, whatever was read before (nodejs/node issue 63785)', () => {
  installReaders()
  for (const [place, type] of [114, 3802].entries()) {
    const read = pg.types.getTypeParser(type, 'text') as (text: string) => object
    read(`{"only${place}": 1, "x\\\\": 2}`)
    assert.deepEqual(Object.keys(read(`{"only${place}": 1, "x\\"": 2}`)), [`only${place}`, 'x"'])
  }
})
