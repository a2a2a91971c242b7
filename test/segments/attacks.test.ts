import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCampaign } from '../../src/campaigns/definition/definition.ts'
import { Refusal } from '../../src/platform/errors.ts'
import { compileSegment, parseSegment } from '../../src/segments/segments.ts'

const now = new Date()
const all = (length: number, make: () => unknown) => ({ all: Array.from({ length }, make) })
const on = (operator: string, value: unknown) => ({ attribute: 'user.a', operator, value })
const list = Array.from({ length: 250_000 }, (_, index) => index % 10)

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    return error.message
  }
  assert.fail('it was taken')
}

/** Processor time, of which each of these takes some milliseconds, and a hundred times as much on the slowest machines. */
function bounded<Result>(work: () => Result): Result {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 10_000_000, `${Math.round((user + system) / 1_000)} ms`)
  return result
}

describe('a segment made to be slow', () => {
  it('matches no user where a trigger inserts a long list into many conditions', () => {
    const segment = parseSegment(all(200, () => on('in', '{{ trigger.list }}')))
    assert.equal(bounded(() => compileSegment(segment, { list }, now)).matchesNone, true)
  })

  it('matches no user where a trigger inserts a long value into a text again and again', () => {
    const segment = parseSegment(all(60, () => on('equals', '{{trigger.x}}'.repeat(300))))
    for (const x of ['x'.repeat(1_000_000), list, { list }])
      assert.equal(bounded(() => compileSegment(segment, { x }, now)).matchesNone, true)
  })

  it('is refused with more groups than anybody writes, also empty ones', () => {
    const groups = (depth: number): unknown => (depth === 0 ? { all: [] } : all(60, () => groups(depth - 1)))
    const given = groups(3)
    assert.match(
      bounded(() => refusal(() => parseSegment(given))),
      /at most 1000 groups and conditions/
    )
  })

  it('is refused with longer values than can be asked about', () => {
    const lists = all(200, () =>
      on(
        'in',
        Array.from({ length: 1_000 }, (_, index) => `v${index}`)
      )
    )
    const texts = all(100, () => on('equals', 'x'.repeat(4_000)))
    for (const given of [lists, texts])
      assert.match(
        bounded(() => refusal(() => parseSegment(given))),
        /at most 262144 characters in its values/
      )
  })
})

describe('a Live Activity made to be slow', () => {
  it('is refused where it is larger than sixteen pushes', () => {
    const campaign = (content_state: object) => ({
      name: 'Live',
      live_activity: { attributes_type: 'Match', attributes: {}, content_state }
    })
    const many = Array.from({ length: 200 }, () => '{{a}}'.repeat(3_000))
    for (const state of [{ many }, { list }, Object.fromEntries(list.map((_, index) => [`k${index}`, 1]))])
      assert.match(
        bounded(() => refusal(() => parseCampaign(campaign(state)))),
        /^live_activity: must be at most 65536 characters/
      )
    assert.ok(parseCampaign(campaign({ score: '{{ trigger.score }}' })))
  })
})
