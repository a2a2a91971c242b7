import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { whyOutdated } from '../../src/oversight/approvals/changed.ts'
import { isSame, whyChanged } from '../../src/oversight/confirmations/binding.ts'
import type { Facts } from '../../src/oversight/facts/facts.ts'
import { describeFacts } from '../../src/oversight/facts/wording.ts'

const figures = (recipients: number, complete = true, campaignVersion = 1) => ({
  recipients,
  complete,
  campaignVersion
})
const holds = (shown: number, now: number) => whyChanged(figures(shown), figures(now)) === undefined

describe('a yes holds for what was shown', () => {
  it('the number of recipients may differ by 5 % of the number shown', () => {
    for (const [shown, now] of [
      [100, 100],
      [100, 105],
      [100, 95],
      [1_204, 1_264],
      [20, 21],
      [0, 0]
    ] as const)
      assert.ok(holds(shown, now), `${shown} → ${now}`)
    for (const [shown, now] of [
      [100, 106],
      [100, 94],
      [1_204, 1_265],
      [20, 22]
    ] as const)
      assert.ok(!holds(shown, now), `${shown} → ${now}`)
  })

  it('below 20 recipients it may not differ at all', () => {
    for (const [shown, now] of [
      [19, 20],
      [1, 2],
      [1, 0],
      [0, 1]
    ] as const)
      assert.ok(!holds(shown, now), `${shown} → ${now}`)
  })

  it('a yes to "at least" holds for more recipients and for what cannot be counted, not for fewer', () => {
    assert.equal(whyChanged(figures(1_000, false), figures(5_000)), undefined)
    assert.equal(whyChanged(figures(1_000, false), figures(400, false)), undefined)
    assert.match(whyChanged(figures(1_000, false), figures(900))!, /900 instead of at least 1000/)
  })

  it('an audience that was counted and cannot be counted any more is asked about', () => {
    assert.match(whyChanged(figures(1_000), figures(900, false))!, /at least 900 instead of 1000/)
  })

  it('another version of the campaign is another question, whatever its audience', () => {
    assert.match(whyChanged(figures(10), figures(10, true, 2))!, /version 2, not 1/)
  })

  it('compares commands by what they mean, not by their spelling', () => {
    const audience = { targets: [{ projectUserId: 'ana' }, { projectUserId: 'ana' }] }
    const one = { campaignId: 'news', audience, properties: { a: 1, b: [2] } }
    assert.ok(
      isSame(one, {
        properties: { b: [2], a: 1 },
        audience: { targets: [{ projectUserId: 'ana' }] },
        campaignId: 'news'
      })
    )
    assert.ok(isSame({ campaignId: 'news' }, { campaignId: 'news', properties: {} }))
    for (const other of [
      { ...one, campaignId: 'sale' },
      { ...one, properties: { a: 1 } },
      { ...one, audience: { broadcast: true as const } },
      { ...one, audience: { targets: [{ deviceId: 'ana' }] } }
    ])
      assert.ok(!isSame(one, other), JSON.stringify(other))
    assert.ok(!isSame({ campaignId: 'news' }, { campaignId: 'news', audience: { broadcast: true } }))
  })
})

const facts: Facts = {
  campaignId: 'spring',
  campaignName: 'Spring sale',
  campaignVersion: 3,
  broadcast: true,
  recipients: 1_204,
  devices: 1_530,
  excluded: { no_push_token: 12 },
  sample: [{ projectUserId: 'ana', title: 'Spring sale', body: 'Now\n on' }],
  complete: true,
  obstacle: null
}

describe('an approval holds for all that was shown', () => {
  const now = (change: Partial<Facts>) => whyOutdated(facts, { ...facts, ...change })

  it('numbers of recipients, devices and exclusions may differ by 5 %', () => {
    assert.equal(now({ recipients: 1_250, devices: 1_600 }), undefined)
    assert.match(now({ devices: 1_700 })!, /1700 instead of 1530 devices/)
    assert.match(now({ excluded: { no_push_token: 13 } })!, /13 instead of 12 left out for no_push_token/)
    assert.match(now({ excluded: { no_push_token: 12, not_in_segment: 1 } })!, /1 instead of 0 left out/)
  })

  it('people and texts of the sample may not', () => {
    const [one] = facts.sample
    assert.equal(now({ sample: [{ ...one! }] }), undefined)
    for (const sample of [[], [{ ...one!, projectUserId: 'eve' }], [{ ...one!, body: 'Over' }]])
      assert.match(now({ sample })!, /people or the texts/)
  })
})

describe('the facts in words', () => {
  it('name campaign, version, people, devices, exclusions and a message', () => {
    assert.equal(
      describeFacts(facts),
      '“Spring sale” (version 3) would reach 1,204 people on 1,530 devices; 12 are left out (no_push_token: 12). For example to ana: “Spring sale” “Now on”.'
    )
  })

  it('say at least where the audience was not counted to its end, and nobody where it is empty', () => {
    assert.match(describeFacts({ ...facts, complete: false }), /at least 1,204 people on at least 1,530 devices/)
    const nobody = { ...facts, recipients: 0, devices: 0, excluded: {}, sample: [] }
    assert.equal(describeFacts(nobody), '“Spring sale” (version 3) would reach nobody.')
    assert.match(describeFacts({ ...nobody, recipients: 1, devices: 1 }), /1 person on 1 device\.$/)
  })

  it('keep texts of others short and on one line', () => {
    const long = describeFacts({
      ...facts,
      campaignName: 'x'.repeat(256),
      sample: [{ ...facts.sample[0]!, title: 'y\n'.repeat(500) }]
    })
    assert.ok(long.length < 600 && !long.includes('\n'), long)
  })
})
