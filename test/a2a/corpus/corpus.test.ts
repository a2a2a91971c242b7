import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Action } from './cases.ts'
import { corpus } from './corpus.ts'
import { converse, shown, type Tally, tally } from './judge.ts'

// With TIDINGS_LONG each class has twelve times as many texts.
const all: Tally[] = []
for (const one of corpus) all.push(await tally(one))
const sum = (name: 'clear' | 'clearDone') => all.reduce((total, { [name]: more }) => total + more, 0)

describe('the corpus of texts', () => {
  it('has at least 3,000 different texts, and at least 100 of each class', () => {
    const texts = new Set(corpus.flatMap(({ cases }) => cases.map(({ turns }) => turns.join('\n---\n'))))
    assert.ok(texts.size >= 3_000, `${texts.size}`)
    for (const { name, cases } of corpus) assert.ok(cases.length >= 100, `${name}: ${cases.length}`)
  })

  for (const { name, failures, wrong } of all)
    it(`leads to no wrong action: ${name}`, () => {
      const mistakes = failures.filter(({ verdict }) => verdict === 'wrong').slice(0, 20)
      assert.equal(wrong, 0, `${wrong} of them, such as:\n${mistakes.map(shown).join('\n')}`)
    })

  it('has its clear orders done, at least 90 of 100', () => {
    const missed = all.flatMap(({ failures }) => failures.filter(({ verdict }) => verdict === 'asked')).slice(0, 20)
    const [clear, done] = [sum('clear'), sum('clearDone')]
    assert.ok(clear >= 1_000, `${clear}`)
    assert.ok(done >= 0.9 * clear, `${done} of ${clear}; not done are for example:\n${missed.map(shown).join('\n')}`)
  })
})

describe('a yes to what a text was understood as', () => {
  /** The ids, names and values of an action. */
  const leaves = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => (key === 'broadcast' ? [] : leaves(inner)))
      : [value]
  const unshown = ({ data }: Action, question: string) =>
    leaves(data).filter((leaf) => !question.includes(String(leaf)))

  it('does nothing that the question did not show', async () => {
    const hidden: string[] = []
    for (const { one, outcome } of all.flatMap(({ outcomes }) => outcomes)) {
      if (!('said' in outcome) || !outcome.said.startsWith('input-required')) continue
      const agreed = await converse([...one.turns, 'yes'])
      const missing = 'did' in agreed ? unshown(agreed.did, outcome.said) : []
      if (missing.length > 0) hidden.push(`${JSON.stringify([one.turns, missing])} after ${outcome.said}`)
    }
    assert.deepEqual(hidden.slice(0, 20), [], `${hidden.length} of them`)
  })
})
