import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { longestText } from '../../src/a2a/text/grammar.ts'
import type { Reading } from '../../src/a2a/text/reading.ts'
import fc from '../support/fuzz.ts'
import { morePhrasings } from './more-phrasings.ts'
import { type Expected, type Phrasing, phrasings } from './phrasings.ts'
import { answer, read } from './skills.ts'
import { traps } from './traps.ts'
import { wildPhrasings } from './wild-phrasings.ts'

const all: readonly Phrasing[] = [...phrasings, ...morePhrasings, ...wildPhrasings]
const acting = all.flatMap(([text, { kind }]) => (kind === 'act' && read(text).kind === 'act' ? [text] : []))

function isRight(reading: Reading, expected: Expected): boolean {
  if (reading.kind !== expected.kind) return false
  if ('skill' in expected && (!('skill' in reading) || reading.skill !== expected.skill)) return false
  if ('data' in expected && (!('data' in reading) || !isDeepStrictEqual(reading.data, expected.data))) return false
  const { missing = [] } = expected as { missing?: string[] }
  return missing.every((field) => reading.kind === 'ask' && reading.missing.includes(field))
}

describe('the phrasings', () => {
  const readings = all.map(([text, expected]) => ({ text, expected, reading: read(text) }))

  it('are 150 and more, no two alike', () => {
    assert.ok(phrasings.length >= 75 && all.length >= 150, String(all.length))
    assert.equal(new Set(all.map(([text]) => text)).size, all.length)
  })

  it('are read right, four out of five and more', () => {
    const missed = readings.filter(({ reading, expected }) => !isRight(reading, expected))
    const right = all.length - missed.length
    assert.ok(right >= 0.8 * all.length, `${right} of ${all.length}: ${missed.map(({ text }) => text).join('\n')}`)
  })

  it('never lead to an action that was not asked for', () => {
    const wrong = readings.filter(({ reading, expected }) => reading.kind === 'act' && !isRight(reading, expected))
    assert.deepEqual(wrong, [])
  })

  it('that are not read right ask or decline', () => {
    const missed = readings.filter(({ reading, expected }) => !isRight(reading, expected))
    assert.deepEqual(
      missed.filter(({ reading }) => reading.kind === 'act' || reading.kind === 'confirm'),
      []
    )
  })

  it('say what was understood, and ask a question where something is missing', () => {
    for (const { reading, text } of readings) {
      if (reading.kind !== 'none') assert.match(reading.understood, /^[A-Z].*\.$/s, text)
      if ('question' in reading) assert.match(reading.question, /[.?]$/, text)
    }
  })
})

describe('traps', () => {
  for (const text of traps) {
    it(`${JSON.stringify(text)} is not acted upon`, () => {
      const reading = read(text)
      assert.ok(reading.kind !== 'act' && reading.kind !== 'confirm', JSON.stringify(reading))
    })
  }
})

describe('whatever is put into a text that is an order', () => {
  const nos = ["don't", 'Do not', 'never', "please don't", 'I do not want you to', 'You must not', 'DON’T', 'stop! No']
  const afterthoughts = [
    'not',
    'but not now',
    'if she pays',
    'tomorrow',
    'unless I say so',
    'except user bo',
    'maybe',
    'no',
    'or not'
  ]

  it('a no before it forbids it', () => {
    for (const text of acting)
      for (const no of nos) {
        const { kind } = read(`${no} ${text}`)
        // A stop or a greeting between the no and the verb makes it unclear.
        const isNear = no !== 'stop! No' && !/^(hi|hey|please|could|can|would|i|i'd|we)\b/i.test(text)
        assert.equal(kind, isNear ? 'declined' : 'ask', `${no} ${text}`)
      }
  })

  it('a no, a condition or a time after it is asked about', () => {
    for (const text of acting)
      for (const words of afterthoughts) {
        const changed = `${text.replace(/[.!?]+$/, '')} ${words}`
        assert.notEqual(read(changed).kind, 'act', changed)
      }
  })

  it('a no, or a word that means nothing here, is asked about in every place, or is part of what it says', () => {
    for (const text of acting)
      for (const { index } of text.matchAll(/ /g))
        for (const word of ['zzyzx', 'not', "don't", 'without', 'unless']) {
          const changed = read(`${text.slice(0, index)} ${word}${text.slice(index)}`)
          // Inside quotes it belongs there, and a strange word can be an id. Elsewhere nothing is done.
          if (changed.kind === 'act') assert.ok(JSON.stringify(changed.data).includes(word), `${word}: ${text}`)
        }
  })

  it('two orders in one text are not acted upon', () => {
    for (const one of acting)
      for (const other of acting)
        for (const between of [' and ', '. ', ', then ', '\n']) {
          const both = one + between + other
          assert.notEqual(read(both).kind, 'act', both)
        }
  })

  it('half of it is not acted upon as if it were the whole, unless it is one', () => {
    for (const text of acting) {
      const whole = read(text)
      for (const { index } of text.matchAll(/ /g)) {
        const half = read(text.slice(0, index))
        if (half.kind === 'act' && whole.kind === 'act') assert.equal(half.skill, whole.skill, text.slice(0, index))
      }
    }
  })
})

describe('values', () => {
  const propertiesOf = (text: string) => {
    const reading = read(`Create user ana with ${text}`)
    return reading.kind === 'act' ? reading.data.properties : reading.kind
  }

  it('are typed when unquoted and texts when quoted', () => {
    assert.deepEqual(propertiesOf('a=1, b=-2.5, c=true, d=false, e="1", f="true", g=True, h=-7, i=0'), {
      a: 1,
      b: -2.5,
      c: true,
      d: false,
      e: '1',
      f: 'true',
      g: true,
      h: -7,
      i: 0
    })
  })

  it('keep their spelling where a number would change it', () => {
    for (const text of [
      '1.10',
      '-2.50',
      '007',
      '1e5',
      '12345678901234567890',
      '0.10',
      '-0',
      '1.0',
      '0x10',
      '2026-12-24'
    ])
      assert.deepEqual(propertiesOf(`a=${text}`), { a: text }, text)
  })

  it('may have any name, and none of them reaches into objects', () => {
    const data = propertiesOf('__proto__=1, constructor="x", "toString"=true') as Record<string, unknown>
    assert.deepEqual(Object.keys(data), ['__proto__', 'constructor', 'toString'])
    assert.equal(Object.getPrototypeOf(data), Object.prototype)
    assert.equal(({} as Record<string, unknown>).constructor, Object)
  })

  it('are taken as they are from quotes of all kinds', () => {
    for (const [open, close] of ['""', '“”', '„“', '«»', '``', "''", '‘’'] as unknown as [string, string][])
      assert.deepEqual(propertiesOf(`a=${open}x, y: z = 1${close}`), { a: 'x, y: z = 1' }, open + close)
  })
})

describe('hostile texts', () => {
  it('of any kind are read in the end, and never acted upon by chance', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        assert.notEqual(read(text).kind, 'act')
        assert.ok(answer(read('Send a push'), text))
      }),
      { numRuns: 2_000 }
    )
  })

  it('of the greatest length that repeat what is hard to read end as well', () => {
    const bits = [
      '"',
      "'",
      '“',
      '{',
      '{"a":',
      '[',
      'a=',
      'a:',
      'a,',
      '=',
      ':',
      ' and',
      ' with',
      ' user',
      ' for user',
      'user a,'
    ]
    const more = [
      '\\"',
      '\u200b',
      '\u0301',
      '👩‍💻',
      'not ',
      'create ',
      'create user a ',
      ' ',
      '\n',
      'a=b,',
      "a'",
      '(',
      '. ',
      'İ'
    ]
    for (const bit of [...bits, ...more]) {
      const tail = bit.repeat(Math.ceil(longestText / bit.length)).slice(0, longestText - 30)
      for (const head of ['', 'Create user ana ', 'Send a push to ']) assert.ok(read(head + tail).kind)
    }
  })

  it('that are longer, or hold what cannot be stored, are not read', () => {
    assert.equal(read(`Create user ${'a'.repeat(longestText)}`).kind, 'none')
    assert.equal(read('Create user a\0b').kind, 'none')
    assert.equal(read('Create user "a\ud800b"').kind, 'none')
    assert.equal(read('x'.repeat(10_000_000)).kind, 'none')
  })
})
