import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { sizeOf } from '../../src/platform/http/json/count.ts'
import { readInSlices } from '../../src/platform/http/json/read.ts'
import { building, mostNames, type Wanted } from '../../src/platform/http/schema.ts'

const most = { levels: 256, values: 600_000 }
const read = (text: string, wanted?: Wanted, bounds = most) => readInSlices(Buffer.from(text), wanted, bounds)
const runs = { numRuns: process.env.TIDINGS_LONG ? 20_000 : 400 }
/** Drops everything. */
const nothing: Wanted = { type: 'object', properties: {} }

describe('JSON that is read in slices', () => {
  it('has the value that JSON.parse returns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 2 }), async (text, indent) => {
        const value = JSON.parse(text)
        assert.deepStrictEqual(await read(JSON.stringify(value, null, indent)), value)
        const { values } = await sizeOf(Buffer.from(text))
        assert.ok(values >= valuesOf(value), 'counts never less than is built')
      }),
      runs
    )
    for (const text of [
      '-0',
      '[1e5,-1.5E-3,0.10,1e400]',
      '"\\u00e9\\n\\"\\\\é😀\\ud83d\\ude00"',
      '{"__proto__":{"a":1},"a":1,"a":2}'
    ])
      assert.deepStrictEqual(await read(` \t\r\n${text}\n`), JSON.parse(text))
  })

  it('is refused where JSON.parse refuses it, also inside dropped values', async () => {
    const broken =
      '[|{|[1,]|{"a":1,}|{,}|[,1]|01|1.|.5|-|+1|1e|"a|"\n"|"\\x"|"\\u12g4"|tru|nulll|[1 2]|{"a" 1}|{a:1}|[}|{]|{"a"}|[1e+]'
    for (const text of ['', '{"a":1}}', '1 2', ...broken.split('|')]) {
      assert.throws(() => JSON.parse(text), SyntaxError, text)
      await assert.rejects(read(text), /not JSON/, text)
      await assert.rejects(read(`{"x":${text}}`, nothing), /not JSON/, text)
    }
  })

  it('is cut at random and still refused or read as JSON.parse does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '}', ']', '"', '\\', ':', '0', '\0'),
        async (text, at, put) => {
          const place = at % (text.length + 1)
          const changed = text.slice(0, place) + put + text.slice(place + 1)
          const [here, there] = await Promise.all([
            outcome(() => read(changed)),
            outcome(async () => JSON.parse(changed))
          ])
          assert.deepStrictEqual(here, there, changed)
        }
      ),
      runs
    )
  })

  it('leaves out members that the schema does not name, and containers in the place of a plain value', async () => {
    const wanted: Wanted = {
      type: 'object',
      properties: {
        id: { type: 'string' },
        list: { [building]: { type: 'array', items: { type: 'object' }, maxItems: 2 } }
      }
    }
    const text = '{"id":[1,{"a":2}],"else":{"deep":[1]},"list":[{"a":1},2,[3,4],5,6],"list2":1}'
    assert.deepStrictEqual(await read(text, wanted), { id: [], list: [{ a: 1 }, 2, []] })
    assert.deepStrictEqual(await read('[1,2,3]', wanted), [])
    const named: Wanted = { type: 'object', [mostNames]: 2 }
    assert.deepStrictEqual(await read('{"a":1,"b":2,"a":3,"b":4,"c":5,"d":6,"a":7}', named), { a: 7, b: 4, c: 5 })
  })

  it('has bounds for built values and none for dropped ones', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    assert.deepStrictEqual(await read(`{"x":${deep}}`, nothing), {})
    await assert.rejects(read(deep), /more than 256 levels/)
    const bounds = { levels: 2, values: 3 }
    assert.deepStrictEqual(await read('[1,2]', undefined, bounds), [1, 2])
    await assert.rejects(read('[1,2,3]', undefined, bounds), /more than 3 values/)
    assert.deepStrictEqual(await read('{"x":[1,2,3,4,5,6]}', nothing, bounds), {})
  })

  it('is refused for NUL and lone surrogates, also inside dropped values', async () => {
    for (const text of ['"\\u0000"', '["a\\ud800b"]', '{"\\udc00":1}']) {
      await assert.rejects(read(text), /NUL or a lone surrogate/)
      await assert.rejects(read(`{"x":${text}}`, nothing), /NUL or a lone surrogate/)
    }
  })
})

const storable = (value: unknown) => !/\\u(0000|d[89a-f])/i.test(JSON.stringify(value))

async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    const value = await work()
    return storable(value) ? { value } : 'refused'
  } catch {
    return 'refused'
  }
}

function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, inner) => sum + valuesOf(inner), 1)
}
