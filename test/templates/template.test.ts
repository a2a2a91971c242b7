import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Refusal } from '../../src/platform/errors.ts'
import { renderingOf } from '../../src/templates/rendering.ts'
import {
  compileTemplate,
  deviceScope,
  TemplateFailed,
  type TemplateScope,
  userScope
} from '../../src/templates/template.ts'
import { triggerUses } from '../../src/templates/trigger-uses.ts'

const scope: TemplateScope = {
  trigger: { item: 'Tea <b>', price: 4.5, deep: { list: ['a', 'b'], 'odd name': 'x' }, none: null, list: [3, 1, 2] },
  user: userScope('ana', { name: 'Ana', id: 'a property', properties: 'another', plan: 'premium' }),
  device: deviceScope('d1', 'IOS', { locale_region: 'KR', locale_language: 'ko', timezone: 'Asia/Seoul' }),
  campaign: { id: 'welcome', name: 'Welcome' }
}
const render = (source: string, given = scope) => compileTemplate(source).render(given)

function refusal(source: string): Refusal {
  try {
    compileTemplate(source, 'message.title')
  } catch (error) {
    assert.ok(error instanceof Refusal)
    assert.equal(error.code, 'invalid_template')
    return error
  }
  throw new assert.AssertionError({ message: `${source.slice(0, 60)} was taken` })
}

describe('a template', () => {
  const cases: [source: string, text: string][] = [
    ['Plain text with { and }', 'Plain text with { and }'],
    ['{{ trigger.item }} for {{ trigger.price }}', 'Tea <b> for 4.5'],
    ['{{ trigger.deep.list[1] }}{{ trigger.deep["odd name"] }}', 'bx'],
    [
      '{{ user.id }} {{ user.name }} {{ user.properties.id }} {{ user.properties.properties }}',
      'ana Ana a property another'
    ],
    [
      '{{ device.id }} {{ device.platform }} {{ device.locale }} {{ device.language }} {{ device.timezone }}',
      'd1 IOS KR ko Asia/Seoul'
    ],
    ['{{ campaign.name }}', 'Welcome'],
    ['{{ 1234567.5 | number_with_delimiter }} {{ -999 | number_with_delimiter }}', '1,234,567.5 -999'],
    ['{{ "12345" | number_with_delimiter: "." }} {{ user.name | number_with_delimiter }}', '12.345 Ana'],
    ['[{{ trigger.missing }}{{ trigger.missing.more }}{{ nothing.at.all }}{{ trigger.none }}]', '[]'],
    ['{% if user.plan == "premium" %}yes{% else %}no{% endif %}', 'yes'],
    ['{% for n in trigger.list %}{{ n }}{% unless forloop.last %}, {% endunless %}{% endfor %}', '3, 1, 2'],
    ['{{ trigger.list | sort | join: "<" }} {{ trigger.list.size }}', '1<2<3 3'],
    ['{{ user.nick | default: "Guest" | upcase }}', 'GUEST'],
    ['{{ trigger.deep }}', '{"list":["a","b"],"odd name":"x"}'],
    ['{% case device.platform %}{% when "IOS" %}i{% when "ANDROID" %}a{% endcase %}', 'i'],
    ['{% assign x = user.name | append: "!" %}{% capture y %}{{ x }}{{ x }}{% endcapture %}{{ y }}', 'Ana!Ana!'],
    [
      '{{ 7 | divided_by: 2 }} {{ 7 | divided_by: "2", true }} {{ -7 | modulo: 3 }} {{ 0 | divided_by: 4 }}',
      '3.5 3 2 0'
    ],
    ['{{ "2026-11-15T00:30:00+09:00" | date: "%Y-%m-%d %H:%M" }}', '2026-11-14 15:30'],
    ['{{ "2026-11-15T00:30:00Z" | date: "%H:%M", "Asia/Seoul" }}', '09:30'],
    ['{{ "2026-11-15T00:30:00Z" | date: "%H:%M", "+09:00" }} {{ 0 | date: "%H:%M", 60 }}', '09:30 23:00'],
    ['{{ 0 | date: "%H", "" }} {{ 0 | date: "%H", "Mars/Olympus" }} {{ 0 | date: "%H", "UTC+2" }}', '00 00 00'],
    ['{% raw %}{{ user. }}{% endraw %}{% comment %}{{ user. }}{% endcomment %}', '{{ user. }}'],
    ['{% for n in (1..3) %}{{ n }}{% endfor %} {{ 1. }} {{ "a." | append: "." }}{{ trigger["."] }}', '123 1 a..']
  ]
  for (const [source, text] of cases) it(`${source} renders to ${text}`, () => assert.equal(render(source), text))

  it('never contains half a character or NUL, which cannot be stored or shown', () => {
    const party = { trigger: { name: '🎉 Zoë' } }
    assert.equal(render('{{ trigger.name | split: "" | first }}!', party), '!')
    assert.equal(render('{{ trigger.name | slice: 0 }}{{ trigger.name | truncate: 4, "" }}', party), '🎉🎉 Zo')
    assert.equal(render('{{ trigger.name | split: "" | reverse | join: "" }}', party), 'ëoZ ')
    assert.equal(render('a{{ "%00" | url_decode }}{{ "AGI=" | base64_decode }}'), 'ab')
    const zone = { trigger: { zone: '🎉'.repeat(500) } }
    assert.equal(render('{{ "2026-11-15" | date: "%H", trigger.zone }}', zone), '00')
  })

  it('fails where it divides by 0, by a missing value or by a word', () => {
    for (const filter of ['divided_by: 0', 'modulo: 0', 'divided_by: trigger.missing', 'modulo: "x"', 'divided_by'])
      assert.throws(() => render(`{{ 7 | ${filter} }}`), /^TemplateFailed: line 1, column 1: divided by 0$/, filter)
    assert.equal(render('{% if trigger.missing %}{{ 7 | divided_by: trigger.missing }}{% endif %}'), '')
  })

  it('of an anonymous user has no user.id, not even the property of that name', () => {
    assert.equal(render('[{{ user.id }}]', { user: userScope(null, { id: 'x' }) }), '[]')
  })

  it('sees own properties only', () => {
    const names = [
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'list.constructor',
      'list.map',
      'item.length.constructor'
    ]
    for (const name of names) assert.equal(render(`{{ trigger.${name} }}`), '', name)
    const odd = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}')
    assert.equal(
      render('{{ trigger.__proto__ }}{{ trigger.constructor }}{{ trigger.toString }}', { trigger: odd }),
      'abc'
    )
  })
})

describe('the dependencies of a template', () => {
  const cases: [source: string, roots: string[]][] = [
    ['text', []],
    ['{{ trigger.x }}', ['trigger']],
    ['{{ trigger.x | default: user.name }}', ['trigger', 'user']],
    ['{{ trigger[user.plan] }}', ['trigger', 'user']],
    ['{% if device.platform == "IOS" %}{{ campaign.id }}{% endif %}', ['campaign', 'device']],
    ['{% for i in (1..user.n) limit: device.n %}{% endfor %}', ['device', 'user']],
    ['{% assign a = trigger.x | append: device.id %}{{ a }}', ['device', 'trigger']],
    ['{% case 1 %}{% when 1, user.x or device.y %}{% endcase %}', ['device', 'user']],
    ['{% capture t %}{{ user.id }}{% endcapture %}{{ t }}', ['user']],
    ['{% cycle user.a, "b" %}{% echo trigger.b %}', ['trigger', 'user']],
    ['{{ ["user"].id }}', ['user']],
    ['Dear user, {{ trigger.x }}', ['trigger']]
  ]
  for (const [source, roots] of cases)
    it(`${source}: ${roots.join(', ') || 'nothing'}`, () =>
      assert.deepEqual([...compileTemplate(source).dependsOn].sort(), roots))

  it('is all it sees: a name made while rendering finds nothing', () => {
    assert.equal(render('[{{ [trigger.which].id }}]', { ...scope, trigger: { which: 'user' } }), '[]')
  })
})

describe('the doubts about a template', () => {
  const whole = (root: string) =>
    `has {{ ${root} }}, which writes all properties as JSON: add a name, or | json if that is meant`
  const ofDevice = 'there are device.id, device.platform, device.locale, device.language, device.timezone'
  const cases: [source: string, ...doubts: string[]][] = [
    ['{{ user.name }} {{ event.amount }} {{ device.timezone }} {{ campaign.id }} {{ device.id.size }}'],
    ['{{ name }}', 'refers to name, which is always empty: there are trigger, event, user, device, campaign'],
    ['{{ user }}', whole('user')],
    ['{% if user %}{% echo trigger | default: "x" %}{% endif %}{{ trigger }}', whole('trigger')],
    ['{% for one in user %}{{ one }}{% endfor %}{% if event %}x{% endif %}{{ user | json }}{{ user.deep }}'],
    ['{% for event in trigger.all %}{{ event }}{{ event.a }}{% endfor %}{% assign user = "x" %}{{ user }}'],
    ['{{ device.model }}', `refers to device.model, which is always empty: ${ofDevice}`],
    [
      '{% if campaign.foo.x %}{% endif %}',
      'refers to campaign.foo.x, which is always empty: there are campaign.id, campaign.name'
    ],
    ['{% for device in trigger.all %}{{ device.model }}{% endfor %}{{ device[trigger.x] }}{{ device.size }}'],
    ['{{ 0 | date: "%H", "Asia/Soul" }}', 'has the zone "Asia/Soul", which is none: dates are in UTC'],
    ['{{ 0 | date: "%H", "Asia/Seoul" }}{{ 0 | date: "%H", "+09:00" }}{{ 0 | date: "%H", device.timezone }}']
  ]
  for (const [source, ...doubts] of cases)
    it(`${source}: ${doubts.join('; ') || 'none'}`, () => assert.deepEqual(compileTemplate(source).doubts(), doubts))
})

describe('a template that cannot be parsed', () => {
  const cases: [source: string, place: string][] = [
    ['{{ user.name }', 'line 1, column 1'],
    ['a\n  {% if user.x %}b', 'line 2, column 3'],
    ['{{ user.x | nothing }}', 'line 1, column 1'],
    ['\n\n {% nothing %}', 'line 3, column 2'],
    ['{% for %}{% endfor %}', 'line 1, column 1'],
    ['{% endif %}', 'line 1, column 1'],
    ['{{ user. }}', 'line 1, column 8'],
    ['{{ user.  | upcase }}', 'line 1, column 8'],
    ['{{ user.deep. }}{{ user.name }}', 'line 1, column 13'],
    ['{{ user.name | default: user. }}', 'line 1, column 29'],
    ['a\n{% if user. == blank %}b{% endif %}', 'line 2, column 11'],
    ['{% for one in trigger. %}{% endfor %}', 'line 1, column 22'],
    ['{{ user[trigger.] }}', 'line 1, column 16'],
    ['{{ }}', 'line 1, column 4']
  ]
  for (const [source, place] of cases)
    it(`is refused with its place: ${JSON.stringify(source)}`, () => {
      const { details } = refusal(source)
      assert.equal(details[0]!.path, 'message.title')
      assert.ok(details[0]!.message.startsWith(`${place}: `), details[0]!.message)
      assert.ok(!/line:|\n/.test(details[0]!.message), details[0]!.message)
    })

  it('is refused with what to write instead, where that is plain', () => {
    const braze = `\${…} is of Braze: write {{ user.first_name }}, or have tidings translate braze rewrite the text`
    const cases: [source: string, message: string][] = [
      ['{% if user.points = 5 %}{% endif %}', 'line 1, column 19: unexpected =: write == to compare'],
      ['{% if a %}\n{% elsif user.a=5 %}{% endif %}', 'line 2, column 16: unexpected =: write == to compare'],
      ['{% if user.a === 5 %}{% endif %}', 'line 1, column 16: unexpected =: write == to compare'],
      ['{% if user.a && user.b %}{% endif %}', 'line 1, column 14: unexpected &&: write and'],
      ['{% if user.a || user.b %}{% endif %}', 'line 1, column 15: unexpected ||: write or'],
      [`{{ \${first_name} }}`, `line 1, column 4: ${braze}`],
      [`{{ user.a | default: \${first_name} }}`, `line 1, column 22: ${braze}`],
      [`{{ custom_attribute.\${plan} }}`, `line 1, column 20: ${braze}`],
      [`{% for x in \${list} %}{% endfor %}`, `line 1, column 1: ${braze}`],
      ['{{ user.name | upcas }}', 'line 1, column 1: undefined filter: upcas (did you mean "upcase"?)'],
      ['{{ user.name | shout }}', 'line 1, column 1: undefined filter: shout'],
      ['{{ user.a & 5 }}', 'line 1, column 11: expected "|" before filter']
    ]
    for (const [source, message] of cases) assert.equal(refusal(source).details[0]!.message, message)
  })

  it('fails its messages where an older version saved it, and names its field', () => {
    const recipient = { device_id: 'd', project_user_id: null, properties: {}, platform: 'IOS', facts: {} } as const
    const wrong = '{{ user. | json }}'
    const named = (campaign: object, field: string) => {
      const { make } = renderingOf({ name: 'X', ...campaign }).for({ properties: {} })
      const message = `${field}: line 1, column 8: a name must follow the dot`
      assert.throws(() => make(recipient), { name: 'TemplateFailed', message })
    }
    named({ message: { title: wrong } }, 'title')
    named({ message: { title: 'Hi', image_url: wrong } }, 'image_url')
    named({ message: { title: 'Hi', data: { order: wrong } } }, 'data.order')
    named({ message: { title: 'Hi', actions: [{ id: 'a', title: wrong }] } }, 'actions[0].title')
    const activity = { attributes_type: 'Ride', attributes: {}, content_state: { stops: ['A', wrong] } }
    named({ live_activity: activity }, 'content_state.stops[1]')
    assert.deepEqual(triggerUses('{{ trigger. | json }}'), [])
  })

  it('is one that reads files, evaluates text, rolls dice or takes the square of the time', () => {
    for (const tag of [
      'include "/etc/passwd"',
      'render "x"',
      'layout "x"',
      'block x',
      'tablerow i in x',
      'liquid echo x'
    ])
      refusal(`{% ${tag} %}`)
    for (const filter of ['where_exp: "x", "user.id"', 'group_by_exp: "x", "y"', 'sample', 'strip_html', 'inspect'])
      refusal(`{{ trigger.list | ${filter} }}`)
  })

  it('is one that is too long or nested too deeply', () => {
    assert.match(refusal('x'.repeat(16_385)).message, /at most 16384 characters/)
    for (const depth of [51, 1_000])
      assert.match(refusal('{%if a%}'.repeat(depth) + '{%endif%}'.repeat(depth)).message, /deeper than 50 levels|16384/)
    refusal(`{{ ${'a['.repeat(5_000)}${']'.repeat(5_000)} }}`)
  })
})

describe('a template made to be slow or large', () => {
  const list = Array.from({ length: 50_000 }, (_, index) => (index * 7_919) % 50_000)
  let nest: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) nest = [nest]
  const hostile: TemplateScope = {
    trigger: { big: '<script '.repeat(60_000), list, nest, fake: { length: 1e9 }, spaces: ' '.repeat(200_000) }
  }
  const cases: [name: string, source: string][] = [
    ['a long range', '{% for i in (1..1000000000) %}{% endfor %}'],
    ['loops in loops without a body', `${'{% for a in (1..99) %}'.repeat(8)}${'{% endfor %}'.repeat(8)}`],
    ['loops in loops', `${'{% for a in (1..99) %}'.repeat(8)}x${'{% endfor %}'.repeat(8)}`],
    ['a loop over a long list', '{% for a in trigger.list %}{% for b in trigger.list %}{% endfor %}{% endfor %}'],
    ['a large output', '{% for a in (1..1000) %}{{ trigger.big }}{% endfor %}'],
    ['an output over the limit', '{{ trigger.big }}'],
    ['a text that doubles', '{% assign x = "ab" %}{% for a in (1..64) %}{% assign x = x | append: x %}{% endfor %}'],
    [
      'a capture that doubles',
      '{% capture x %}ab{% endcapture %}{% for a in (1..64) %}{% capture x %}{{ x }}{{ x }}{% endcapture %}{% endfor %}'
    ],
    ['a replacement that grows', '{{ trigger.big | replace: "<", trigger.big }}'],
    ['sorting again and again', '{% for a in (1..1000) %}{% assign x = trigger.list | sort %}{% endfor %}'],
    ['a long number', '{{ 1 | date: "%999999999d" }}'],
    ['a deep list', '{{ trigger.nest }}'],
    ['a deep list as JSON', '{{ trigger.nest | json }}'],
    ['a filter without its argument', '{{ trigger.big | append }}']
  ]
  for (const [name, source] of cases)
    it(`fails by its limits: ${name}`, { timeout: 10_000 }, () => {
      const template = compileTemplate(source)
      assert.throws(
        () => template.render(hostile),
        (error) => error instanceof TemplateFailed && /^line 1, column \d+: |^[^\n]+$/.test(error.message)
      )
      // And the process still works afterwards.
      assert.equal(compileTemplate('{{ trigger.a }}').render({ trigger: { a: 1 } }), '1')
    })

  it('is rendered where it stays within them', () => {
    assert.equal(render('{{ trigger.fake | size }}', hostile), '1000000000')
    assert.equal(render('{% for a in (1..1000) %}{{ a }}{% endfor %}').length, 2_893)
    assert.equal(render('[{{ trigger.spaces | strip }}]', { trigger: { spaces: ' '.repeat(90_000) } }), '[]')
  })
})
