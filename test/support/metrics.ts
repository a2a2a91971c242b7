import assert from 'node:assert/strict'
import type { TestService } from './service.ts'

/** The sum of all samples of a metric that have these labels. */
export async function metricOf(
  service: Pick<TestService, 'ask'>,
  name: string,
  labels: Record<string, string> = {}
): Promise<number> {
  const { status, text } = await service.ask('GET', '/metrics')
  assert.equal(status, 200)
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const matching = lines.filter((line) => wanted.every((pair) => line.includes(pair)))
  return matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
