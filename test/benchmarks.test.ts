import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { chartOf } from '../bench/runner/chart.ts'
import { plan } from '../bench/runner/plan.ts'
import { rowOf, tableOf } from '../bench/runner/table.ts'
import type { Figure } from '../bench/support/figures.ts'
import { root } from './support/program.ts'

const figure: Figure = {
  name: 'CPU for a push <b>',
  value: 14.2,
  unit: 'µs',
  better: 'less',
  goal: 15,
  peers: { 'node-apn': 125.4 },
  limit: { name: 'h2load', value: 5 },
  growth: {
    of: 'pushes',
    unit: 'µs',
    points: [
      [1_000, 14],
      [100_000, 14.2],
      [1_000_000, 14.3]
    ]
  }
}

describe('the benchmarks', () => {
  it('are all in the plan of npm run bench', () => {
    const files = readdirSync(join(root, 'bench')).filter((name) => name.endsWith('.ts'))
    assert.deepEqual(plan.map(({ name }) => `${name}.ts`).sort(), files.sort())
  })

  it('show the ratio of a figure to peers and limit, whether the goal is met, and whether it grows', () => {
    assert.deepEqual(rowOf(figure), {
      figure: 'CPU for a push <b>',
      value: '14.2 µs',
      goal: '≤ 15 ✓',
      beside: '0.113 × node-apn, 2.84 × h2load (limit)',
      growth: 'flat (1.02 ×)'
    })
    const worse: Figure = {
      ...figure,
      better: 'more',
      growth: {
        of: 'a',
        unit: 'b',
        points: [
          [1, 1],
          [1_000, 3]
        ]
      }
    }
    assert.deepEqual([rowOf(worse).goal, rowOf(worse).growth], ['≥ 15 ✗', '3.00 × from 1 to 1,000'])
    assert.equal(tableOf([figure, worse]).split('\n').length, 3)
  })

  it('draw a chart without markup of names and without numbers that are none', () => {
    for (const one of [
      figure,
      { ...figure, value: 0, goal: 0, peers: {} },
      { name: 'a', value: 1, unit: 'b', better: 'more' } as const
    ]) {
      const chart = chartOf(one, 'today')
      assert.doesNotMatch(chart, /NaN|Infinity|undefined|<b>/)
      assert.match(chart, /^<svg .*prefers-color-scheme:dark.*<\/svg>\n$/s)
    }
  })
})
