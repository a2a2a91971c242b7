import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCampaign } from '../../src/campaigns/definition/definition.ts'
import { heldOutOf, textsOf } from '../../src/campaigns/texts/choosing.ts'
import { languageOf } from '../../src/campaigns/texts/language.ts'
import { newId } from '../../src/platform/ids.ts'
import { notingMissing } from '../../src/templates/missing.ts'
import { renderingOf } from '../../src/templates/rendering.ts'

const user = (
  user_id: string,
  facts: Record<string, string | null> = {},
  properties: Record<string, unknown> = {}
) => ({
  user_id,
  facts,
  properties
})
const users = Array.from({ length: 20_000 }, () => newId())
const message = (title: string) => ({ title })
const campaign = (fields: object) => parseCampaign({ campaign_id: 'spring', name: 'Spring', ...fields })
const variants = [
  { id: 'a', weight: 1, message: message('A') },
  { id: 'b', weight: 3, message: message('B') }
]

describe('variants', () => {
  it('are given to users by their weights', () => {
    const { choose } = textsOf(campaign({ variants }), null)
    const share = users.filter((id) => choose(user(id)).variant === 'a').length / users.length
    assert.ok(Math.abs(share - 0.25) < 0.015, `a has a weight of 1 in 4, and got ${share}`)
  })

  it('stay with a user in every version in which ids and weights are the same', () => {
    const before = textsOf(campaign({ variants }), null)
    const texts = variants.map((one) => ({ ...one, message: message('changed') })).reverse()
    const later = textsOf(campaign({ variants: texts, name: 'Renamed', holdout: 10 }), null)
    for (const id of users.slice(0, 500)) assert.equal(before.choose(user(id)).variant, later.choose(user(id)).variant)
  })

  it('differ between campaigns, so that no user is always in the same group', () => {
    const one = textsOf(campaign({ variants }), null)
    const two = textsOf(campaign({ variants, campaign_id: 'autumn' }), null)
    const same = users.filter((id) => one.choose(user(id)).variant === two.choose(user(id)).variant).length
    assert.ok(same / users.length < 0.7, 'by chance 0.625 of the users are in the same group')
  })

  it('give way to a winner', () => {
    const { choose } = textsOf(campaign({ variants }), null)
    assert.deepEqual(new Set(users.slice(0, 100).map((id) => choose(user(id), 'a').variant)), new Set(['a']))
  })

  it('with a weight of 0 reach no user', () => {
    const { choose } = textsOf(campaign({ variants: [{ ...variants[0]!, weight: 0 }, variants[1]] }), null)
    assert.ok(users.every((id) => choose(user(id)).variant === 'b'))
  })
})

it('a holdout has its share of users, and of each variant alike', () => {
  const definition = campaign({ variants, holdout: 20 })
  const [{ choose }, heldOut] = [textsOf(definition, null), heldOutOf(definition)!]
  for (const variant of ['a', 'b']) {
    const own = users.filter((id) => choose(user(id)).variant === variant)
    const share = own.filter(heldOut).length / own.length
    assert.ok(Math.abs(share - 0.2) < 0.03, `${share} of variant ${variant} is held out`)
  }
  assert.equal(heldOutOf(campaign({ message: message('A') })), undefined)
})

describe('the language of a text', () => {
  const pick = languageOf(['de', 'pt', 'pt-BR', 'zh-Hant', 'he'], 'en')
  const cases: [string, Record<string, string | null>, Record<string, unknown>, string][] = [
    ['is that of the device', { locale_language: 'de', locale_region: 'AT' }, {}, 'de'],
    ['is the closest: the region counts', { locale_language: 'pt', locale_region: 'BR' }, {}, 'pt-BR'],
    ['is the language where the region has none of its own', { locale_language: 'pt-PT' }, {}, 'pt'],
    ['follows the script that a region writes', { locale_language: 'zh', locale_region: 'TW' }, {}, 'zh-Hant'],
    ['is not another script', { locale_language: 'zh-Hans-CN' }, {}, 'en'],
    ['knows old names', { locale_language: 'iw' }, {}, 'he'],
    ['is the default if the device speaks it', { locale_language: 'en-GB' }, { language: 'de' }, 'en'],
    ['is the property of the user if none fits the device', { locale_language: 'fr' }, { language: 'pt_BR' }, 'pt-BR'],
    ['is the property of a user whose device names none', {}, { language: 'de-CH' }, 'de'],
    ['is the default otherwise', { locale_language: '??' }, { language: 7 }, 'en']
  ]
  for (const [name, facts, properties, expected] of cases)
    it(name, () => assert.equal(pick({ facts, properties }), expected))
})

it('a text that a translation lacks is that of the default language', () => {
  const translated = campaign({
    message: {
      title: 'Hello',
      body: 'Bye',
      language: 'en',
      actions: ['open', 'skip'].map((id) => ({ id, title: id, landing_url: 'app://x' })),
      translations: { de: { title: 'Hallo', actions: { open: 'Öffnen' } } }
    }
  })
  const { choose, source } = textsOf(translated, null)
  const { make } = renderingOf(source).for({ properties: {} })
  const recipient = { device_id: 'd', project_user_id: null, properties: {}, platform: 'IOS' as const, facts: {} }
  const choice = choose(user('u', { locale_language: 'de' }))
  assert.equal(choice.language, 'de')
  assert.deepEqual(make({ ...recipient, text: choice.text }), {
    kind: 'alert',
    notification: {
      title: 'Hallo',
      body: 'Bye',
      actions: [
        { id: 'open', title: 'Öffnen', landingUrl: 'app://x' },
        { id: 'skip', title: 'skip', landingUrl: 'app://x' }
      ]
    }
  })
})

it('each step of a campaign has its own texts', () => {
  const steps = [
    { id: 'first', message: message('One') },
    { id: 'second', wait: '2d', variants }
  ]
  const definition = campaign({ steps })
  assert.deepEqual(textsOf(definition, 'first').choose(user('u')), {
    text: undefined,
    step: 'first',
    variant: null,
    language: null
  })
  assert.deepEqual(textsOf(definition, 'second').variants, ['a', 'b'])
  assert.equal(textsOf(definition, null).step, 'first')
})

describe('a missing value', () => {
  const missing = (title: string, properties: Record<string, unknown> = {}) => {
    const { make } = renderingOf({ name: 'c', message: { title: `x${title}` } }).for({ properties })
    const recipient = { device_id: 'd', project_user_id: null, properties: { name: '' }, facts: {} }
    return notingMissing(() => make({ ...recipient, platform: 'IOS' }))[1]
  }
  const cases: [string, string, string[]][] = [
    [
      'is noted for trigger, event and user',
      '{{ trigger.a }}{{ event.b.c }}{{ user.name | upcase }}',
      ['trigger.a', 'event.b.c', 'user.name']
    ],
    ['is none with a default', '{{ trigger.a | default: "x" }}{{ user.name | upcase | default: "y" }}', []],
    ['is none where a condition leaves it out', '{% if user.name != "" %}{{ user.name }}{% endif %}', []],
    ['is none for a device or a constant', '{{ device.language }}{{ "" }}', []],
    ['is noted in echo', '{% echo user.city %}', ['user.city']]
  ]
  for (const [name, title, expected] of cases) it(name, () => assert.deepEqual(missing(title), expected))

  it('is noted again for each recipient where a template is the same for all', () => {
    const { make } = renderingOf({ name: 'c', message: { title: 'x{{ trigger.a }}' } }).for({ properties: {} })
    const recipient = { device_id: 'd', project_user_id: null, properties: {}, facts: {}, platform: 'IOS' as const }
    for (let count = 0; count < 2; count++) assert.deepEqual(notingMissing(() => make(recipient))[1], ['trigger.a'])
  })
})
