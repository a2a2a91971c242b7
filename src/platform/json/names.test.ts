import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readJson } from './names.ts'

const name = fc.string({ unit: fc.constantFrom('a', 'x', '\\', '"', '\n', '\u0001', ':', ' ', '{', '\u{10fffd}', '0') })
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(1, null, true),
    name,
    fc.array(tie('tree')),
    fc.dictionary(fc.oneof(name, fc.constant('__proto__')), tie('tree'), { noNullPrototype: true })
  )
}))

/** Deep equality ignores the order of members. */
const written = (value: unknown) => JSON.stringify(value)

describe('a JSON text with names that callers chose', () => {
  it('has each name as it was written, whatever a text before had in its place (nodejs/node issue 63785)', () => {
    for (const [before, after] of [
      ['{"a":1,"x\\\\":2}', '{"a":1,"x\\"":2}'],
      ['{"a":1,"y\\\\":2}', '{"a":1,"y\\u0001":2}'],
      ['{"a":1,"\\\\":{"b":2}}', '{"a":1,"\\u540d":{"b":2}}'],
      ['{"a":[{"c":1,"z\\\\":2}]}', '{"a":[{"c":1,"z\\n" : 2}]}']
    ] as const) {
      for (let time = 0; time < 3; time += 1) JSON.parse(before)
      const names = after.matchAll(/"([^"\\]|\\.)*"(?=\s*:)/g)
      const read = written(readJson(after))
      for (const [one] of names) assert.ok(read.includes(written(JSON.parse(one))), `${one} in ${read}`)
    }
  })

  it('has the values and the order of its members', () => {
    fc.assert(
      fc.property(tree, fc.integer({ min: 0, max: 2 }), (value, indent) => {
        assert.equal(written(readJson(JSON.stringify(value, null, indent))), written(value))
      }),
      { numRuns: 500 }
    )
    assert.equal(written(readJson('{"a\\n":1,"b":2,"a\\u000a":3}')), '{"a\\n":3,"b":2}')
    const own = readJson('{"\\u005f_proto__":{"a":1}}') as object
    assert.deepEqual([Object.keys(own), Object.getPrototypeOf(own)], [['__proto__'], Object.prototype])
  })

  it('is refused where and as JSON.parse refuses it', () => {
    fc.assert(
      fc.property(tree, fc.nat(), fc.constantFrom('', '"', '\\', ':', ',', '\n', '\\"":'), (value, at, put) => {
        const text = JSON.stringify(value)
        const place = at % (text.length + 1)
        const changed = text.slice(0, place) + put + text.slice(place + 1)
        const [here, there] = [readJson, JSON.parse].map((read) => {
          try {
            return ['read', JSON.stringify(read(changed)).length]
          } catch (error) {
            return (error as Error).message
          }
        })
        if (typeof there === 'string' || typeof here === 'string') assert.deepEqual(here, there, changed)
      }),
      { numRuns: 1_000 }
    )
  })

  it('may be deep', () => {
    const depth = 100_000
    let read = readJson(`${'{"a\\n":'.repeat(depth)}1${'}'.repeat(depth)}`)
    for (let level = 0; level < depth; level += 1) read = (read as Record<string, unknown>)['a\n']
    assert.equal(read, 1)
  })
})
