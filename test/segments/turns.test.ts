import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createTurns, patiently, SegmentBusy } from '../../src/segments/turns.ts'

const of = (name: string) => name as ProjectId

/** Evaluations that end when the test says so, with this limit for the wait. */
function asking(waitMs = 60_000) {
  const inTurn = createTurns(waitMs)
  const begun: string[] = []
  const answers = new Map<string, () => void>()
  const ask = (project: string, name: string) =>
    inTurn(of(project), () => {
      begun.push(name)
      return new Promise<string>((resolve) => answers.set(name, () => resolve(name)))
    })
  return { inTurn, begun, ask, answer: (name: string) => answers.get(name)!() }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('questions to segments', () => {
  it('are evaluated two at a time for one project and five in all, and the next one when one ends', async () => {
    const { begun, ask, answer } = asking()
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'c2'].map((name) => ask(name[0]!, name))
    await turn()
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'b2', 'c1'])
    answer('b1')
    await turn()
    assert.deepEqual(begun.slice(5), ['c2'], 'a3 waits for its own project')
    answer('a2')
    await turn()
    assert.deepEqual(begun.slice(6), ['a3'])
    for (const name of ['a1', 'a3', 'b2', 'c1', 'c2']) answer(name)
    assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'c2'])
  })

  it('that wait too long are sent away, and take no turn afterwards', async () => {
    const { begun, ask, answer } = asking(20)
    const first = [ask('a', 'a1'), ask('a', 'a2')]
    await assert.rejects(ask('a', 'a3'), SegmentBusy)
    answer('a1')
    answer('a2')
    await Promise.all(first)
    const last = ask('a', 'a4')
    await turn()
    assert.deepEqual(begun, ['a1', 'a2', 'a4'])
    answer('a4')
    await last
  })

  it('that wait too long for their own project say so, and others that the process is busy', async () => {
    const { ask, answer } = asking(20)
    const taken = ['a1', 'a2', 'b1', 'b2', 'c1'].map((name) => ask(name[0]!, name))
    await assert.rejects(ask('a', 'a3'), { code: 'rate_limited', message: /of this project/ })
    await assert.rejects(ask('c', 'c2'), { code: 'unavailable' })
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) answer(name)
    await Promise.all(taken)
  })

  it('that fail give their turn back', async () => {
    const { inTurn, ask, answer, begun } = asking()
    const fails = () => inTurn(of('a'), () => Promise.reject(new Error('boom')))
    for (let round = 0; round < 6; round += 1) await assert.rejects(fails, /boom/)
    const last = ask('a', 'a1')
    await turn()
    assert.deepEqual(begun, ['a1'])
    answer('a1')
    await last
  })

  it('of a request are asked again until its time is over', async () => {
    let asked = 0
    const busy = async () => {
      asked += 1
      if (asked < 3) throw new SegmentBusy(true)
      return 'answered'
    }
    assert.equal(await patiently(busy, Date.now() + 60_000), 'answered')
    await assert.rejects(
      patiently(() => Promise.reject(new SegmentBusy(true)), Date.now()),
      SegmentBusy
    )
  })
})
