import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createMetrics } from '../../src/platform/metrics.ts'
import { countProcesses, type Siblings } from '../../src/platform/siblings/siblings.ts'
import { root } from '../support/program.ts'
import { startService } from '../support/service.ts'
import { figures, metricsIn } from './figures.ts'

it('every metric of the dashboard and of the alerts is in /metrics, and every metric of ours in the guide', async () => {
  const service = await startService()
  const { text } = await service.ask('GET', '/metrics')
  const names = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!))
  // Those of a service with several processes.
  const ofProcesses = createMetrics()
  countProcesses(ofProcesses, { state: () => ({ wanted: 1, serving: 1, deaths: 0 }) } as Siblings)
  for (const { name } of await ofProcesses.registry.getMetricsAsJSON()) names.add(name)
  const missing = figures().flatMap(({ of, expr }) =>
    metricsIn(expr).flatMap((name) => (names.has(name) ? [] : `${of}: ${name}`))
  )
  assert.deepEqual(missing, [])
  const guide = readFileSync(join(root, 'docs/guides/observability.md'), 'utf8')
  assert.deepEqual(
    [...names].filter((name) => name.startsWith('tidings_') && !guide.includes(`\`${name}\``)),
    []
  )
})
