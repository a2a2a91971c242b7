import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEngine } from '../../src/templates/engine.ts'
import { compileTemplate, readTemplate, TemplateFailed } from '../../src/templates/template.ts'

/**
 * Every filter and comparison with its worst input, hundreds of times. The test measures processor time of this
 * process, which does not depend on the load of the machine: none takes more than 0.1 s of it, and without their prices
 * several took minutes.
 */
const mostMs = 1_500
const long = process.env.TIDINGS_LONG !== undefined

function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const list = <Item>(length: number, make: (index: number) => Item) => Array.from({ length }, (_, index) => make(index))
let nested: unknown[] = []
for (let depth = 0; depth < 100; depth++) nested = [nested]

const trigger = {
  text: 'a'.repeat(1_000_000),
  fits: 'a'.repeat(150_000),
  // Searching a text among equal letters makes V8 take the product of both lengths.
  needle: `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}`,
  small: `${'a'.repeat(8_000)}b${'a'.repeat(8_000)}`,
  blanks: `${' '.repeat(500_000)}x`,
  markup: '<&>"'.repeat(40_000),
  escapes: '%41'.repeat(50_000),
  numbers: list(300_000, (index) => index),
  others: [...list(299_999, (index) => index), 'x'],
  shuffled: list(40_000, (index) => (index * 7_919) % 40_000),
  words: list(20_000, (index) => `Word ${(index * 7_919) % 20_000}`),
  objects: list(30_000, (a) => ({ a })),
  lists: list(400, () => list(400, (index) => index)),
  fields: Object.fromEntries(list(60_000, (index) => [`k${index}`, index])),
  nested,
  format: '%A'.repeat(45_000),
  wide: '%9999999999999Y',
  path: 'a.'.repeat(500_000)
}
const subjects = long ? Object.keys(trigger) : ['fits', 'shuffled', 'objects', 'lists', 'fields']

const named = (names: string, ...args: string[]): [string, string[]][] => names.split(' ').map((name) => [name, args])
const filters: [name: string, args: string[]][] = [
  ...named('abs ceil floor round to_integer capitalize downcase squish strip_newlines upcase number_of_words', ''),
  ...named('escape escape_once url_decode url_encode cgi_escape uri_escape base64_encode base64_decode', ''),
  ...named('compact first last reverse shift pop size uniq array_to_sentence_string number_with_delimiter', ''),
  ...named('date_to_xmlschema date_to_string date_to_long_string', ''),
  ...named('at_least at_most divided_by minus modulo plus times append prepend', ': trigger.text', ': trigger.lists'),
  ...named('concat push unshift default', ': trigger.numbers', ': trigger.lists'),
  ...named('remove remove_first remove_last split', ': ""', ': trigger.needle', ': trigger.small'),
  ...named('replace replace_first replace_last', ': "", trigger.text', ': trigger.small, "x"', ': "a", "aaaaaaaaaaaa"'),
  ...named('slice', ': -5, 3', ': 100000, 100000'),
  ...named('truncate truncatewords', '', ': 100000', ': 10, trigger.text'),
  ...named('lstrip rstrip strip', '', ': trigger.text'),
  ...named('join', '', ': trigger.fits'),
  ...named('json', '', ': 10'),
  ...named('date', ': trigger.format', ': trigger.wide', ': "%A", trigger.text', ': "%c%x%X", "Asia/Seoul"'),
  ...named('map sum sort sort_natural', '', ': "a"', ': trigger.path'),
  ...named('where reject find has', ': "a", 5', ': "a", trigger.lists', ': trigger.path')
]

function attack(source: string): void {
  try {
    compileTemplate(source).render({ trigger })
  } catch (error) {
    assert.ok(error instanceof TemplateFailed, `${source}: ${error}`)
  }
}
const repeated = (body: string) => `{% for i in (1..${long ? 1_000 : 300}) %}${body}{% endfor %}`

describe('a filter with its worst input', () => {
  it('is in this table, whatever filter it is', () => {
    const known = new Set(filters.map(([name]) => name))
    assert.deepEqual(
      Object.keys(createEngine().filters).filter((name) => !known.has(name)),
      []
    )
  })

  for (const [name, args] of filters)
    it(`ends by its price: ${name}`, () => {
      for (const arg of args)
        for (const subject of ['0', ...subjects.map((one) => `trigger.${one}`)]) {
          const body = `{{ ${subject} | ${name}${arg} | size }}`
          const ms = cpuMs(() => attack(repeated(body)))
          assert.ok(ms < mostMs, `${body}: ${Math.round(ms)} ms`)
        }
    })
})

describe('a comparison with its worst input', () => {
  for (const operator of ['==', '!=', '<', '>', '<=', '>=', 'contains'])
    it(`ends by its price: ${operator}`, () => {
      for (const left of ['text', 'needle', 'numbers', 'lists', 'words', 'fields'])
        for (const right of [
          'trigger.text',
          'trigger.needle',
          'trigger.small',
          'trigger.others',
          'trigger.lists',
          '"z"'
        ]) {
          const body = `{% if trigger.${left} ${operator} ${right} %}{% endif %}`
          const ms = cpuMs(() => attack(repeated(body)))
          assert.ok(ms < mostMs, `${body}: ${Math.round(ms)} ms`)
        }
    })
})

describe('the result of a template', () => {
  it('cannot double by being put into itself', () => {
    for (const last of [
      '{{ a }}',
      '{{ a | join }}',
      '{{ a | json }}',
      '{% if a == b %}{% endif %}',
      '{{ trigger[a] }}'
    ])
      for (const grow of ['a = a | push: a', 'a = a | concat: a', 'a = a | unshift: a']) {
        const source = `{% assign a = trigger.lists | first %}{% assign b = a %}${`{% assign ${grow} %}`.repeat(60)}${last}`
        const ms = cpuMs(() => attack(source))
        assert.ok(ms < mostMs, `${grow}, ${last}: ${Math.round(ms)} ms`)
      }
  })
})

describe('a template that is long to parse', () => {
  const shapes: [start: string, unit: string, end: string][] = [
    ['{{ a | append: ', 'a,', 'a }}'],
    ['{% cycle ', 'a,', 'a %}'],
    ['{{ a', '[a]', ' }}'],
    ['{% if a', ' or a', '%}{% endif %}'],
    ['', '\n{{a}}', '']
  ]
  /** The lowest of some attempts, because other processes only add to it. */
  const readingMs = (length: number) => {
    const sources = shapes.map(
      ([start, unit, end]) => start + unit.repeat(Math.floor((length - start.length - end.length) / unit.length)) + end
    )
    const attempts = Array.from({ length: 4 }, () =>
      cpuMs(() => {
        for (const source of sources) assert.ok(readTemplate(source, 'x', []))
      })
    )
    return Math.min(...attempts)
  }
  it('is read in a time that grows with its length, not with the square of it', () => {
    const [whole, eighth] = [readingMs(16_384), readingMs(2_048)]
    // 8 times as long: the square would take 64 times as much.
    assert.ok(whole < 32 * eighth, `${whole} ms, and ${eighth} ms for an eighth`)
  })
})
