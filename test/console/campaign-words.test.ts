import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareLines, linesOf } from '../../src/console/page/pages/campaigns/versions/lines.ts'
import { clashesOf, differencesOf, isSame, merged } from '../../src/console/page/pages/campaigns/words/differences.ts'
import { labelOf } from '../../src/console/page/pages/campaigns/words/fields.ts'
import { limitsInWords, whenInWords, whoInWords } from '../../src/console/page/pages/campaigns/words/review.ts'
import { valueInWords } from '../../src/console/page/pages/campaigns/words/values.ts'

const news = {
  name: 'News',
  type: 'api_triggered' as const,
  status: 'active' as const,
  segment: { all: [{ attribute: 'user.plan', operator: 'equals' as const, value: 'free' }] },
  message: { title: 'Hello', translations: { de: { title: 'Hallo' } } }
}

describe('two versions of a campaign', () => {
  it('differ in fields, whatever the order of their names', () => {
    const other = { ...news, message: { translations: { de: { title: 'Servus' } }, title: 'Hello' } }
    assert.deepEqual(differencesOf(news, other), [
      { path: 'message.translations.de.title', one: 'Hallo', two: 'Servus' }
    ])
    assert.ok(isSame({ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1, d: undefined }))
  })

  it('are compared step by step while the ids agree, and as a whole otherwise', () => {
    const steps = (...ids: string[]) => ({ steps: ids.map((id) => ({ id, message: { title: `Title of ${id}` } })) })
    const changed = { steps: steps('a', 'b').steps.with(1, { id: 'b', message: { title: 'Another' } }) }
    assert.deepEqual(
      differencesOf(steps('a', 'b'), changed).map(({ path }) => path),
      ['steps[1].message.title']
    )
    assert.deepEqual(
      differencesOf(steps('a', 'b'), steps('b', 'a')).map(({ path }) => path),
      ['steps']
    )
  })

  it('tell who changed a field, and are merged by the fields that are taken', () => {
    const mine = { ...news, name: 'Mine', message: { ...news.message, title: 'My title' } }
    const theirs = { ...news, holdout: 5, message: { ...news.message, title: 'Their title' } }
    const clashes = clashesOf(news, mine, theirs)
    assert.deepEqual(Object.fromEntries(clashes.map(({ path, changed }) => [path, changed])), {
      name: 'mine',
      'message.title': 'both',
      holdout: 'theirs'
    })
    const taken = merged(
      mine,
      clashes.filter(({ path }) => path !== 'name')
    )
    assert.deepEqual(taken, { ...theirs, name: 'Mine' })
    assert.deepEqual(
      clashesOf(undefined, mine, theirs).map(({ changed }) => changed),
      ['both', 'both', 'both'],
      'without the version that both began with'
    )
  })

  it('as JSON do not differ in a line that only got a comma', () => {
    const signs = (before: object, now: object) =>
      compareLines(linesOf(before), linesOf(now)).filter(({ sign }) => sign !== ' ')
    assert.deepEqual(signs({ a: 1 }, { a: 1, b: 2 }), [{ sign: '+', line: '  "b": 2' }])
    assert.deepEqual(signs({ a: 1, b: 2 }, { a: 1 }), [{ sign: '-', line: '  "b": 2' }])
    assert.deepEqual(
      signs({ a: 1 }, { a: 2 }).map(({ sign }) => sign),
      ['-', '+']
    )
  })

  it('of a hundred thousand lines are compared at once', () => {
    const ids = (from: number) => ({ targets: Array.from({ length: 50_000 }, (_, index) => `user-${from + index}`) })
    const began = performance.now()
    assert.ok(compareLines(linesOf(ids(0)), linesOf(ids(7))).length > 50_000)
    assert.ok(performance.now() - began < 5_000)
  })
})

describe('a field in words', () => {
  it('has the label of the editor', () => {
    assert.equal(labelOf('message.translations.de.title', news), 'German (de) · Title')
    const steps = { steps: [{ id: 'a' }, { id: 'b', variants: [{ id: 'x' }] }] }
    assert.equal(labelOf('steps[1].variants[0].message.body', steps), 'Step 2 · Variant x · Body')
    assert.equal(labelOf('quiet_hours.from', {}), 'Quiet hours · From')
  })

  it('has a value that a person reads', () => {
    assert.equal(valueInWords('segment', news.segment), 'user.plan is “free”')
    assert.equal(valueInWords('schedule.cron', '30 9 * * 1,4'), 'every Monday and Thursday at 09:30')
    assert.equal(valueInWords('ttl_seconds', 7_200), '2 hours')
    assert.equal(valueInWords('default_audience', { targets: [{ project_user_id: 'ana' }] }), 'ana')
    assert.equal(valueInWords('message.title', undefined), 'not set')
    assert.equal(valueInWords('frequency_cap', { count: 1, within: '24h' }), 'count: 1\nwithin: 1 day')
  })

  it('that is still being typed has a value too', () => {
    for (const value of ['{', 3, null, [], { a: [] }])
      for (const name of ['segment', 'default_audience', 'where', 'ttl_seconds', 'holdout', 'cron', 'live_activity'])
        assert.equal(typeof valueInWords(name, value), 'string', `${name}: ${JSON.stringify(value)}`)
  })
})

it('a review says who gets a campaign, when, and within which limits', () => {
  assert.deepEqual(whoInWords(news), ['Only users who match: user.plan is “free”.', 'Each trigger names its users.'])
  const event = { event: 'signed_up', delay: '30m', unless: { event: 'purchase' }, reentry: '7d' }
  assert.deepEqual(whenInWords({ ...news, type: 'event_triggered', event_trigger: event }), [
    '30 minutes after the event signed_up.',
    'Not if purchase comes first.',
    'The same user gets it again after 7 days at the earliest.'
  ])
  const quiet_hours = { from: '22:00', to: '08:00', timezone: 'user', action: 'hold' as const }
  assert.deepEqual(limitsInWords({ ...news, frequency_cap: { count: 1, within: '24h' }, quiet_hours }), [
    'At most 1 per user within 1 day.',
    'Between 22:00 and 08:00 (the user’s time) it waits until quiet hours end.'
  ])
})
