import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import type { Source } from '../../src/templates/content.ts'
import { fillerOf, plainParts } from '../../src/templates/plain.ts'
import { type Recipient, renderingOf } from '../../src/templates/rendering.ts'
import { compileTemplate, TemplateFailed } from '../../src/templates/template.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const recipient: Recipient = {
  device_id: 'phone',
  user_id: 'u',
  project_user_id: 'ana',
  properties: {
    name: 'Ana',
    id: 'hidden',
    empty: '',
    no: false,
    zero: 0,
    deep: { er: 'x' },
    list: ['a', 'b'],
    nothing: null
  },
  platform: 'IOS',
  facts: { locale_language: 'pt' }
}
const whenever = Number.POSITIVE_INFINITY
const trigger = { properties: { code: 'SPRING', name: 'of the trigger', first: 1 } }

/** What the library makes, or the message of its failure. */
function byLibrary(source: Source, to: Recipient, properties: Record<string, unknown>): unknown {
  try {
    return renderingOf(source).for({ properties }).make(to)
  } catch (error) {
    if (error instanceof TemplateFailed) return error.message
    throw error
  }
}

async function filledIn(source: Source, to: Recipient, properties: Record<string, unknown>): Promise<unknown> {
  const [made] = await fillerOf(source)({ properties }, [to], whenever, [])
  return made instanceof TemplateFailed ? made.message : made
}

const titled = (title: string): Source => ({ campaign_id: 'news', name: 'News', message: { title, body: '.' } })
const title = async (text: string, watch = false): Promise<unknown> => {
  const made = (await filledIn({ ...titled(text), watch }, recipient, trigger.properties)) as
    | { notification: { title?: string } }
    | undefined
  return made && (made.notification.title ?? '')
}

describe('texts that only insert values', () => {
  it('are filled in by the service', async () => {
    const made = {
      'Hello {{ user.name }}': 'Hello Ana',
      '{{user.name}}{{ trigger.code }}': 'AnaSPRING',
      '{{ event.code }}, {{ trigger.name }}': 'SPRING, of the trigger',
      '{{ user.id }} {{ user.properties.id }}': 'ana hidden',
      '{{ device.platform }} {{ device.language }} {{ device.timezone }}.': 'IOS pt .',
      '{{ campaign.id }} {{ campaign.name }}': 'news News',
      '{{ user.deep.er }}{{ user.nothing.at.all }}{{ user.toString }}': 'x',
      '{{ user.city | default: \'there\' }} {{ user.empty | default:"e" }} {{ user.no | default: "n" }}': 'there e n',
      '{{ user.zero | default: "z" }} {{ user.no }}': '0 false',
      'a { b } c }} {{ user.name }}': 'a { b } c }} Ana'
    }
    for (const [text, expected] of Object.entries(made)) {
      assert.equal(await title(text), expected, text)
      assert.deepEqual(
        await filledIn(titled(text), recipient, trigger.properties),
        byLibrary(titled(text), recipient, trigger.properties)
      )
    }
  })

  it('are left to the library where it may write something else', async () => {
    const left = [
      ...[
        '{% if user.name %}x{% endif %}',
        '{{ user.name | upcase }}',
        '{{- user.name }}',
        '{{ user }}',
        '{{ user.list }}'
      ],
      ...[
        '{{ user.deep }}',
        '{{ user.list.size }}',
        '{{ user.name.size }}',
        '{{ user.list.first }}',
        '{{ user.name.x }}'
      ],
      ...['{{ user["name"] }}', '{{ other.name }}', '{{ user.first-name }}', '{{ user.name | default: user.id }}'],
      ...[
        '{{ user.name | default: "a" | upcase }}',
        '{{ user.name | default: "\\n" }}',
        '{{ user.name }}{{ trigger.first }}'
      ],
      'x'.repeat(8_300).concat('{{ user.name }}')
    ]
    for (const text of left) assert.equal(await title(text), undefined, text)
  })

  it('are left to the library where a missing value is reported', async () => {
    assert.equal(await title('{{ user.name }} {{ user.city }}'), 'Ana ')
    assert.equal(await title('{{ user.name }} {{ user.city }}', true), undefined)
    assert.equal(await title('{{ user.name }} {{ user.city | default: "x" }}', true), 'Ana x')
  })

  it('prefer the properties of the target to those of the trigger', async () => {
    const to = { ...recipient, own: { code: 'OWN' } }
    const source = titled('{{ trigger.code }} {{ trigger.name }}')
    const made = await filledIn(source, to, trigger.properties)
    assert.deepEqual(made, byLibrary(source, to, trigger.properties))
    assert.equal((made as { notification: { title: string } }).notification.title, 'OWN of the trigger')
  })

  it('fail as by the library: a text that is empty for one recipient, an address that is none', async () => {
    const failing = [
      { name: 'X', message: { title: '{{ user.city }}' } },
      { name: 'X', message: { title: 'x', landing_url: '{{ user.name }}' } },
      { name: 'X', message: { title: 'x', badge: '{{ user.name }}' } }
    ]
    for (const source of failing) {
      const made = await filledIn(source, recipient, {})
      assert.equal(typeof made, 'string')
      assert.equal(made, byLibrary(source, recipient, {}))
    }
  })

  it('are left to the library where they are many or long, or make a long text', async () => {
    const made = async (message: Source['message'], name = 'x') =>
      filledIn({ name: 'X', message }, { ...recipient, properties: { name } }, {})
    const each = (n: number, text: string) => Object.fromEntries(Array.from({ length: n }, (_, at) => [`d${at}`, text]))
    assert.ok(await made({ title: '{{ user.name }}', data: each(63, '{{ user.name }}') }))
    assert.equal(await made({ title: '{{ user.name }}', data: each(64, '{{ user.name }}') }), undefined)
    assert.equal(await made({ title: 'Hello', data: each(9, 'x'.repeat(1_000)) }), undefined)
    assert.ok(await made({ title: '{{ user.name }}', body: '{{ user.name }}' }, 'x'.repeat(4_096)))
    assert.equal(await made({ title: '{{ user.name }}', body: '{{ user.name }}' }, 'x'.repeat(4_097)), undefined)
    assert.equal(await made({ title: '{{ user.name }}' }, 'x'.repeat(100_000)), undefined)
  })

  it('read as by the library where they are as many and as long as the service fills in', async () => {
    const source = titled('{{ user.name | default: "none" }}{{ user.x.y }}'.repeat(32))
    const to = { ...recipient, properties: { name: 'x'.repeat(255) } }
    const made = await filledIn(source, to, {})
    assert.ok(made)
    assert.deepEqual(made, byLibrary(source, to, {}))
  })

  it('keep few of thousands of contents read', async () => {
    const body = '{{ user.name }}'.repeat(60)
    const translations = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`x-${at}`, {}]))
    const fillIn = fillerOf({ name: 'X', messages: [{ title: 'Hello', body, translations }] })
    const texts = Object.keys(translations).map((tag) => `0 ${tag}`)
    const all = Array(texts.length).fill(recipient)
    await fillIn(trigger, all.slice(0, 100), whenever, texts)
    gc()
    const before = process.memoryUsage().heapUsed
    const count = (await fillIn(trigger, all, whenever, texts)).filter((one) => one !== undefined).length
    gc()
    const grownMb = (process.memoryUsage().heapUsed - before) / 2 ** 20
    assert.equal(count, texts.length)
    assert.ok(grownMb < 20, `${grownMb} MB`)
    // Still in use, or it could have been collected.
    assert.equal((await fillIn(trigger, [recipient], whenever, texts)).length, 1)
  })

  it('give other requests a turn, in one call, in calls at once and in calls one after the other', async () => {
    const [source, many] = [titled('{{ user.name }}'.repeat(60)), Array(30_000).fill(recipient)]
    const fillIn = fillerOf(source)
    const ways = {
      one: () => fillIn(trigger, many, whenever, []),
      'at once': () =>
        Promise.all(Array.from({ length: 1_000 }, () => fillIn(trigger, many.slice(0, 30), whenever, []))),
      'one after the other': async () => {
        for (let at = 0; at < 3_000; at += 1) await fillIn(trigger, many.slice(0, 10), whenever, [])
      }
    }
    for (const [way, fill] of Object.entries(ways)) {
      let turns = 0
      let done = false
      const count = () => {
        turns += 1
        if (!done) setImmediate(count)
      }
      setImmediate(count)
      const began = performance.now()
      await fill()
      const slices = Math.floor((performance.now() - began) / 5)
      done = true
      assert.ok(slices > 2 && turns > slices / 4, `${way}: ${turns} turns in ${slices} slices`)
    }
  })

  it('end with the time of their batch', async () => {
    const [source, many] = [titled('{{ user.name }}'.repeat(60)), Array(30_000).fill(recipient)]
    const made = await fillerOf(source)(trigger, many, 0, [])
    assert.ok(made.length > 0 && made.length < many.length, `${made.length} were made`)
  })

  it('read as by the library, whatever is inserted where', async () => {
    const name = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('name', 'id', 'properties', 'a', 'b') },
      { weight: 1, arbitrary: fc.constantFrom('size', 'first', '__proto__', 'constructor') }
    )
    const path = fc
      .tuple(
        fc.constantFrom('user', 'trigger', 'event', 'device', 'campaign'),
        fc.array(name, { minLength: 1, maxLength: 2 })
      )
      .map(([root, names]) => [root, ...names].join('.'))
    const or = fc.constantFrom('', '|default:"there"', " | default: 'x y'", '| default : ""', ' | upcase')
    const blank = fc.constantFrom('', '', ' ', '\t ', ' ', '- ')
    const inserted = fc.tuple(blank, path, or, blank).map((parts) => `{{${parts.join('')}}}`)
    const text = fc.oneof(fc.string(), fc.constantFrom('{', '}', '}}', ' ', '{ {', '\n', '😀', '\ud83d', '%}'))
    const template = fc.array(fc.oneof(inserted, text), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
    const leaf = fc.oneof(
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null)
    )
    const value = fc.oneof(
      leaf,
      leaf,
      leaf,
      fc.array(leaf, { maxLength: 2 }),
      fc.dictionary(name, leaf, { maxKeys: 2 })
    )
    const values = fc.dictionary(name, value, { maxKeys: 4 }).map((one) => JSON.parse(JSON.stringify(one)))
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        template,
        values,
        values,
        fc.option(values, { nil: undefined }),
        async (text, own, shared, target) => {
          const to = { ...recipient, properties: own, ...(target && { own: target }) }
          try {
            compileTemplate(text)
          } catch {
            return // It cannot be saved.
          }
          const made = await filledIn(titled(text), to, shared)
          if (made === undefined) return
          if (text.includes('{{')) compared += 1
          assert.deepEqual(made, byLibrary(titled(text), to, shared))
        }
      ),
      { numRuns: 3_000 }
    )
    assert.ok(compared > 300, `${compared} templates were filled in`)
  })

  it('are recognized in a time that grows with their length alone', () => {
    for (const text of ['{{ user.a', '{{ user.a | default: "', '{{', '{{ user'.padEnd(40)])
      assert.equal(plainParts(text.repeat(100_000)), undefined)
    assert.equal(plainParts('{{ user.a }}'.repeat(100_000))?.length, 200_001)
  })
})
