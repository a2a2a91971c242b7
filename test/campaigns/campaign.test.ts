import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { parseCampaign, unknownFields } from '../../src/campaigns/definition/definition.ts'
import { campaignSchema } from '../../src/campaigns/definition/file-schema.ts'
import { Refusal } from '../../src/platform/errors.ts'

const plain = { name: 'Welcome', message: { title: 'Hello {{ user.name }}' } }
const whole = {
  campaign_id: 'welcome/1',
  name: 'Welcome',
  type: 'api_triggered',
  status: 'active',
  segment: { all: [{ attribute: 'user.plan', operator: 'equals', value: '{{ trigger.plan }}' }] },
  default_audience: { broadcast: false, targets: [{ project_user_id: 'ana' }, { device_id: 'd' }] },
  message: {
    title: 'Hello {{ user.name }}',
    body: '{% if trigger.x %}x{% endif %}',
    image_url: 'https://example.org/{{ trigger.id }}.png',
    landing_url: 'app://item/{{ trigger.id }}'
  },
  live_activity: {
    attributes_type: 'Delivery',
    attributes: { order: '{{ trigger.order }}', count: 3 },
    content_state: { steps: ['{{ trigger.step }}'] },
    alert: { title: 'On its way' }
  },
  ttl_seconds: 3_600,
  throttle_per_second: 500,
  frequency_cap: { count: 3, within: '7d' },
  quiet_hours: { from: '22:00', to: '08:00', timezone: 'user', action: 'skip' }
}

function refusal(value: unknown): Refusal {
  try {
    parseCampaign(value)
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.equal(error.message, `${error.details[0]!.path}: ${error.details[0]!.message}`)
    return error
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(value)} was taken` })
}

const schema = new Ajv2020({ strict: false, validateFormats: false }).compile(campaignSchema())

describe('a campaign', () => {
  it('is accepted as it is, and returned with its defaults', () => {
    assert.deepEqual(parseCampaign(whole), whole)
    assert.deepEqual(parseCampaign(plain), { ...plain, type: 'api_triggered', status: 'draft', segment: { all: [] } })
    const { quiet_hours } = parseCampaign({ ...plain, quiet_hours: { from: '22:00', to: '08:00' } })
    assert.deepEqual(quiet_hours, { from: '22:00', to: '08:00', timezone: 'device', action: 'hold' })
    assert.deepEqual(parseCampaign({ ...plain, segment: {} }).segment, { all: [] })
  })

  it('lists a wrong condition of an event beside another fault of the event', () => {
    const where = [{ attribute: 'user.plan', operator: 'equals', value: 'free' }]
    const event_trigger = { event: '', where, delay: 'soon', unless: { event: 'b', where } }
    const { details } = refusal({ ...plain, type: 'event_triggered', event_trigger, exit: { event: '', where } })
    assert.deepEqual(
      details
        .map(({ path }) => path)
        .filter((path) => path.includes('where'))
        .sort(),
      ['event_trigger.unless.where[0].attribute', 'event_trigger.where[0].attribute', 'exit.where[0].attribute']
    )
  })

  it('that was returned is accepted again', () => assert.deepEqual(parseCampaign(parseCampaign(whole)), whole))

  it('is refused with words for a time, a duration and a text, not with a pattern', () => {
    const capped = { count: 1, within: 'soon' }
    const wrong = { ...plain, name: '', frequency_cap: capped, quiet_hours: { from: '8:30', to: '24:00' } }
    assert.deepEqual(
      refusal(wrong).details.toSorted((one, two) => one.path.localeCompare(two.path)),
      [
        {
          path: 'frequency_cap.within',
          message: 'must be a duration such as 15m, 24h or 30d (s, m, h, d, w), ten years at most'
        },
        { path: 'name', message: 'must not be empty' },
        { path: 'quiet_hours.from', message: 'must be a time such as 08:30 or 22:00' },
        { path: 'quiet_hours.to', message: 'must be a time such as 08:30 or 22:00' }
      ]
    )
    assert.equal(refusal({ ...plain, name: 'n'.repeat(257) }).details[0]!.message, 'must be at most 256 characters')
    assert.ok(!JSON.stringify(campaignSchema()).includes('must be a time'), 'the schema for editors has the pattern')
  })

  it('loses unknown fields, and the caller can list them', () => {
    const odd = JSON.parse('{"name":"A","message":{"body":"b"},"quite_hours":{},"__proto__":{"x":1}}')
    assert.deepEqual(Object.keys(parseCampaign(odd)).sort(), ['message', 'name', 'segment', 'status', 'type'])
    assert.deepEqual(unknownFields(odd), ['quite_hours', '__proto__'])
    assert.deepEqual(unknownFields({ ...whole, version: 3, warnings: [], $schema: 'x' }), [])
    assert.deepEqual(unknownFields({ ...whole, message: { titel: 'x' }, quiet_hours: { form: '22:00' } }), [
      'message.titel',
      'quiet_hours.form'
    ])
  })
})

describe('the examples of the docs', () => {
  const blocks = async (file: string, kind: string) =>
    [...(await readFile(`docs/${file}`, 'utf8')).matchAll(new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 'gs'))].map(
      ([, text]) => text!
    )

  it('are campaigns, segments and templates that can be saved', async () => {
    const [whole = '', ...parts] = await blocks('guides/campaigns.md', 'yaml')
    assert.equal(parseCampaign(parse(whole)).campaign_id, 'spring')
    for (const part of parts.map((text) => parse(text)))
      parseCampaign({ name: 'A part of a campaign', ...(!part.steps && { message: plain.message }), ...part })
    for (const file of await blocks('guides/languages-and-variants.md', 'yaml')) parseCampaign(parse(file))
    const segments = await blocks('reference/segments.md', 'json')
    assert.ok(segments.length > 1)
    for (const segment of segments) parseCampaign({ ...plain, segment: JSON.parse(segment) })
    for (const title of await blocks('reference/templates.md', '(?:text|liquid)'))
      parseCampaign({ ...plain, message: { title } })
  })
})

describe('a campaign that is not valid', () => {
  const cases: [change: Record<string, unknown>, path: string, code?: string][] = [
    [{ name: undefined }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ campaign_id: '' }, 'campaign_id'],
    [{ campaign_id: '..' }, 'campaign_id'],
    [{ campaign_id: 'x'.repeat(256) }, 'campaign_id'],
    [{ type: 'weekly' }, 'type'],
    [{ status: null }, 'status'],
    [{ message: undefined }, 'message'],
    [{ message: null }, 'message'],
    [{ message: { title: '', body: '' } }, 'message'],
    [{ message: { title: 5 } }, 'message.title'],
    [{ message: { title: 'a', image_url: 'ftp://x/y' } }, 'message.image_url'],
    [{ message: { title: 'a', landing_url: 'no address' } }, 'message.landing_url'],
    [{ message: { title: 'a\n {% if %}' } }, 'message.title', 'invalid_template'],
    [{ message: { title: 'a', body: '{{ x' } }, 'message.body', 'invalid_template'],
    [{ message: { title: 'x'.repeat(16_385) } }, 'message.title'],
    [{ segment: [] }, 'segment', 'invalid_segment'],
    [{ segment: null }, 'segment', 'invalid_segment'],
    [{ segment: { all: [{}] } }, 'segment.all[0]', 'invalid_segment'],
    [{ ttl_seconds: -1 }, 'ttl_seconds'],
    [{ ttl_seconds: 1.5 }, 'ttl_seconds'],
    [{ throttle_per_second: 0 }, 'throttle_per_second'],
    [{ frequency_cap: { count: 1 } }, 'frequency_cap.within'],
    [{ frequency_cap: { count: 1, within: '1y' } }, 'frequency_cap.within'],
    [{ frequency_cap: { count: 1, within: '9999d' } }, 'frequency_cap.within'],
    [{ quiet_hours: { from: '22:00' } }, 'quiet_hours.to'],
    [{ quiet_hours: { from: '24:00', to: '08:00' } }, 'quiet_hours.from'],
    [{ quiet_hours: { from: '08:00', to: '08:00' } }, 'quiet_hours.to'],
    [{ quiet_hours: { from: '22:00', to: '08:00', timezone: 'Nowhere' } }, 'quiet_hours.timezone'],
    [{ quiet_hours: { from: '22:00', to: '08:00', action: 'wait' } }, 'quiet_hours.action'],
    [{ default_audience: { targets: [{ device_id: 'a' }, {}] } }, 'default_audience.targets[1]'],
    [{ default_audience: { targets: [{ device_id: 'a', user_id: 'b' }] } }, 'default_audience.targets[0]'],
    [{ default_audience: { broadcast: 'yes' } }, 'default_audience.broadcast'],
    [{ live_activity: { attributes_type: 'a', attributes: {} } }, 'live_activity.content_state'],
    [
      { live_activity: { attributes_type: 'a', attributes: { a: ['{% x %}'] }, content_state: {} } },
      'live_activity.attributes.a[0]',
      'invalid_template'
    ]
  ]
  for (const [change, path, code = 'invalid_campaign'] of cases)
    it(`is refused with its place: ${JSON.stringify(change).slice(0, 80)}`, () => {
      const { details, code: given } = refusal({ ...plain, ...change })
      assert.deepEqual([details[0]!.path, given], [path, code])
    })

  it('is refused with faults of templates, types and rules at once', () => {
    const { details, code } = refusal({
      ...plain,
      name: 5,
      ttl_seconds: -1,
      segment: { attribute: 'user.a', operator: 'is' },
      message: { title: 5, body: '{% if %}' },
      frequency_cap: { count: 1, within: '1y' }
    })
    assert.equal(code, 'invalid_campaign')
    const paths = details.map(({ path }) => path).sort()
    assert.deepEqual(paths, [
      'frequency_cap.within',
      'message.body',
      'message.title',
      'name',
      'segment.operator',
      'ttl_seconds'
    ])
  })

  it('is refused with all that is wrong', () => {
    const { details, code } = refusal({
      ...plain,
      segment: { any: [{ attribute: 'user.a', operator: 'is' }, { not: [] }] },
      message: { title: '\n{{ a', body: '{% nothing %}' }
    })
    assert.equal(code, 'invalid_campaign')
    assert.deepEqual(
      details.map(({ path }) => path),
      ['segment.any[0].operator', 'segment.any[1].not', 'message.title', 'message.body']
    )
    assert.ok(details[2]!.message.startsWith('line 2, column 1: '))
    assert.deepEqual(
      refusal({ type: 'a', status: 'b', message: 1 }).details.map(({ path }) => path),
      ['name', 'type', 'status', 'message']
    )
  })

  it('is refused and not a fault of ours, whatever it is', () => {
    let deep: unknown = 'x'
    for (let depth = 0; depth < 100_000; depth++) deep = { a: deep }
    const activity = { attributes_type: 'a', attributes: deep, content_state: {} }
    for (const value of [
      null,
      undefined,
      5,
      'x',
      [],
      [plain],
      deep,
      { ...plain, segment: deep },
      { ...plain, live_activity: activity }
    ])
      refusal(value)
  })
})

describe('the published schema', () => {
  it('accepts the campaigns that the service accepts', () => {
    for (const campaign of [plain, whole, { ...plain, segment: {} }, parseCampaign(plain)])
      assert.ok(schema(campaign), JSON.stringify(schema.errors))
  })

  it('refuses campaigns that an editor should mark', () => {
    const leaf = (change: object) => ({
      ...plain,
      segment: { attribute: 'user.a', operator: 'equals', value: 1, ...change }
    })
    for (const campaign of [
      {},
      { name: 'x' },
      { ...plain, type: 'weekly' },
      { ...plain, quiet_hours: { from: '22:00' } },
      { ...plain, segment: { all: [{}] } },
      { ...plain, segment: { event: 'a', operator: 'equals', count: 1 } },
      leaf({ operator: 'is' }),
      leaf({ operator: 'exists' }),
      leaf({ value: undefined }),
      leaf({ attribute: 'account.a' }),
      leaf({ values: 1 })
    ])
      assert.ok(!schema(JSON.parse(JSON.stringify(campaign))), JSON.stringify(campaign))
  })
})
