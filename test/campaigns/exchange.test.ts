import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCampaign } from '../../src/campaigns/definition/definition.ts'
import { translationWarnings } from '../../src/campaigns/definition/text-warnings.ts'
import { csvOf, unitsOfCsv } from '../../src/campaigns/texts/exchange/csv.ts'
import { languagesOf, unitsOf, withTranslations } from '../../src/campaigns/texts/exchange/units.ts'
import { unitsOfXliff, xliffOf } from '../../src/campaigns/texts/exchange/xliff.ts'
import { parseXml } from '../../src/campaigns/texts/exchange/xml.ts'
import { Refusal } from '../../src/platform/errors.ts'
import { contentOf } from '../../src/templates/content.ts'

const odd = '=1+2, "quoted"; <b>&amp;</b>\nline two\t{{ user.name }} ü 👋 '
const campaign = parseCampaign({
  campaign_id: 'a<b&"c"',
  name: 'Odd',
  steps: [
    { id: 'first', message: { title: odd, language: 'en', translations: { de: { title: `'-${odd}` }, ja: {} } } },
    {
      id: 'second',
      wait: '1d',
      variants: [
        { id: 'x', weight: 1, message: { title: '@x', body: "''=y", translations: { fr: { body: '\r+z' } } } },
        {
          id: 'y',
          weight: 1,
          message: {
            title: ']]>',
            landing_url: 'https://example.com/?a=1&b=2',
            actions: [{ id: 'open', title: 'Open' }],
            translations: { de: { actions: { open: 'Öffnen' } } }
          }
        }
      ]
    }
  ]
})
const units = unitsOf(campaign)
const languages = languagesOf(units, ['pt-BR'])
const place = { campaignId: campaign.campaign_id!, version: 3 }
const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code

describe('the texts of a campaign', () => {
  it('are named by step, variant and field', () => {
    assert.deepEqual(
      units.map(({ id }) => id),
      [
        'steps.first.message.title',
        'steps.second.variants.x.title',
        'steps.second.variants.x.body',
        'steps.second.variants.y.title',
        'steps.second.variants.y.landing_url',
        'steps.second.variants.y.actions.open'
      ]
    )
    assert.deepEqual(languages, ['de', 'fr', 'pt-BR'])
  })

  it('come back from CSV as they went, whatever characters they have', () => {
    const csv = csvOf(units, languages)
    for (const line of csv.slice(1).split('\r\n')) assert.doesNotMatch(line, /(^|,)"?[=+@]/)
    const back = unitsOfCsv(csv)
    assert.deepEqual(
      back.map(({ id, source }) => [id, source]),
      units.map(({ id, source }) => [id, source])
    )
    for (const [index, { targets }] of units.entries())
      for (const [tag, text] of targets) assert.equal(back[index]!.targets.get(tag), text)
    assert.equal(withTranslations(campaign, back).changed, 0)
  })

  it('come back from XLIFF as they went', () => {
    const back = unitsOfXliff(xliffOf(place, units, languages), place.campaignId)
    for (const { id, source, targets } of units)
      for (const [tag, text] of targets) {
        const found = back.find((one) => one.id === id && one.targets.has(tag))!
        assert.deepEqual([found.source, found.targets.get(tag)], [source, text])
      }
    assert.deepEqual(withTranslations(campaign, back), { campaign, changed: 0 })
  })

  it('take new translations, and nothing else from the file', () => {
    const csv = 'id;source;de-de;DE\r\nsteps.second.variants.y.title;]]>;Neu;"Auch ""neu"""\r\n;;;\r\n'
    const { campaign: changed, changed: count } = withTranslations(campaign, unitsOfCsv(csv))
    const { message } = changed.steps![1]!.variants![1]!
    assert.deepEqual(
      [count, message.translations],
      [2, { 'de-DE': { title: 'Neu' }, de: { actions: { open: 'Öffnen' }, title: 'Auch "neu"' } }]
    )
  })

  it('are refused where the source has changed, or the text or language is not one', () => {
    const title = 'steps.second.variants.x.title'
    const taken = (source: string, tag = 'de', id = title) =>
      withTranslations(campaign, [{ key: id, id, source, targets: new Map([[tag, 'neu']]) }])
    assert.throws(() => taken('old'), refused('conflict'))
    assert.throws(() => taken('@x', 'de', 'message.title'), refused('invalid_parameter'))
    assert.throws(() => taken('@x', 'not a tag'), refused('invalid_parameter'))
    assert.throws(() => taken(odd, 'EN', 'steps.first.message.title'), refused('invalid_parameter'))
    assert.equal(taken('@x').changed, 1)
  })
})

it('a button may be called constructor, with a translation and without one', () => {
  const actions = ['constructor', '__proto__'].map((id) => ({ id, title: id }))
  const given = {
    name: 'Buttons',
    message: { title: 'a', language: 'en', actions, translations: { de: { title: 'b' } } }
  }
  const parsed = parseCampaign({ campaign_id: 'c', ...given })
  assert.deepEqual([...translationWarnings(parsed, () => new Set())], [])
  const all = unitsOf(parsed)
  assert.deepEqual(
    all.map(({ targets }) => targets.get('de')),
    ['b', undefined, undefined]
  )
  const returned = all.map(({ id, source }) => ({ key: id, id, source, targets: new Map([['de', `${source} de`]]) }))
  const { campaign: changed, changed: count } = withTranslations(parsed, returned)
  assert.equal(count, 3)
  assert.deepEqual(
    unitsOf(changed).map(({ targets }) => targets.get('de')),
    ['a de', 'constructor de', '__proto__ de']
  )
  const { message } = contentOf({ name: 'c', messages: [parsed.message!] }, '0 de')
  assert.deepEqual(message?.actions, actions)
})

it('a file that has a text twice is refused, and costs no more than its first line', () => {
  const letters = 'abcdefghij'.split('')
  const targets = new Map(letters.flatMap((one) => letters.map((other) => [`en-${one}${other}`, 'x'])))
  const returned = Array.from({ length: 10_000 }, () => ({ key: 'a', id: 'message.title', source: 'a', targets }))
  const parsed = parseCampaign({ campaign_id: 'c', name: 'C', message: { title: 'a' } })
  assert.throws(() => withTranslations(parsed, returned), refused('invalid_parameter'))
  assert.ok(withTranslations(parsed, returned.slice(0, 1)).changed > 90)
})

it('a file with very long languages is refused at its first line', () => {
  const long = Array.from({ length: 100 }, (_, index) => `${index}${'x'.repeat(30_000)}`)
  const rows = Array.from({ length: 9_999 }, (_, index) => `r${index},s`)
  assert.throws(
    () => unitsOfCsv(['id,source', ...long].join(',').concat('\n', rows.join('\n'))),
    refused('invalid_parameter')
  )
  const unit = '<trans-unit id="a"><source>a</source></trans-unit>'
  const file = `<file original="c" target-language="${'x'.repeat(1_000_000)}"><body>${unit.repeat(30_000)}</body></file>`
  assert.throws(() => unitsOfXliff(`<xliff version="1.2">${file}</xliff>`, 'c'), refused('invalid_parameter'))
})

it('a file of more attributes than any tool writes is refused', () => {
  const tags = '<a b="" b="" b="" b="" b=""/>'.repeat(50_000)
  assert.throws(() => parseXml(`<xliff>${tags}</xliff>`), refused('invalid_parameter'))
})

describe('a file that is not one', () => {
  const xliff = (inside: string) =>
    `<xliff version="1.2"><file original="c" target-language="de">${inside}</file></xliff>`
  const unit = (source: string) => `<body><trans-unit id="a"><source>${source}</source></trans-unit></body>`
  const files: [string, () => unknown][] = [
    ['with a document type', () => parseXml('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')],
    ['with more references than it may have', () => parseXml(`<x>${'&amp;'.repeat(100_001)}</x>`)],
    ['with an entity of its own', () => parseXml('<x>&a;</x>')],
    ['with an entity that every object inherits', () => parseXml('<x>&toString;</x>')],
    ['with a character that XML forbids', () => parseXml('<x>&#xD800;</x>')],
    ['without an end', () => parseXml('<x><y></y>')],
    ['with crossed elements', () => parseXml('<x><y></x></y>')],
    ['that is deep', () => parseXml(`${'<x>'.repeat(50)}${'</x>'.repeat(50)}`)],
    ['of many elements', () => parseXml(`<x>${'<y/>'.repeat(100_001)}</x>`)],
    ['of XLIFF 2', () => unitsOfXliff('<xliff version="2.0"/>', 'c')],
    ['of another campaign', () => unitsOfXliff(xliff(unit('a')), 'd')],
    ['with formats in a text', () => unitsOfXliff(xliff(unit('a<x id="1"/>')), 'c')],
    ['without texts', () => unitsOfXliff(xliff('<body/>'), 'c')],
    ['without a header', () => unitsOfCsv('a,b\r\n')],
    ['with an open quote', () => unitsOfCsv('id,source\r\na,"b\r\n')],
    ['with text after a quote', () => unitsOfCsv('id,source\r\na,"b"c\r\n')],
    ['with too many columns', () => unitsOfCsv(`id,source${',x'.repeat(120)}\r\n`)]
  ]
  for (const [name, read] of files) it(`${name} is refused`, () => assert.throws(read, refused('invalid_parameter')))
})

it('a file is read where a tool added segments, comments and groups', () => {
  const unit = '<trans-unit id="a"><source>a<mrk mtype="seg">b</mrk></source><target/></trans-unit>'
  const file = `<file target-language="de"><body><group>${unit}</group></body></file>`
  assert.deepEqual(unitsOfXliff(`<?xml version="1.0"?><!-- tool --><xliff version="1.2">${file}</xliff>`, 'c'), [
    { key: 'a de', id: 'a', source: 'ab', targets: new Map([['de', '']]) }
  ])
})
