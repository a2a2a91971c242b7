import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Reading, read } from '../../src/a2a/grammar/grammar.ts'
import { type Expected, phrasings } from './phrasings.ts'

const all = [...phrasings]

function isRight(reading: Reading, expected: Expected): boolean {
  if (reading.kind !== expected.kind) return false
  if ('skill' in expected && (!('skill' in reading) || reading.skill !== expected.skill)) return false
  if ('data' in expected && (!('data' in reading) || !isDeepStrictEqual(reading.data, expected.data))) return false
  const { missing = [] } = expected as { missing?: string[] }
  return missing.every((field) => reading.kind === 'ask' && reading.missing.includes(field))
}

describe('the phrasings', () => {
  const readings = all.map(([text, expected]) => ({ text, expected, reading: read(text) }))

  it('are read right, four out of five and more', () => {
    const missed = readings.filter(({ reading, expected }) => !isRight(reading, expected))
    const right = all.length - missed.length
    assert.ok(right >= 0.8 * all.length, `${right} of ${all.length}: ${missed.map(({ text }) => text).join('\n')}`)
  })

  it('never lead to an action that was not asked for', () => {
    const wrong = readings.filter(({ reading, expected }) => reading.kind === 'act' && !isRight(reading, expected))
    assert.deepEqual(wrong, [])
  })
})
