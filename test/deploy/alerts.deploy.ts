// Prometheus with the files of deploy/, reading a running service.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { root, temporaryFolder } from '../support/program.ts'
import { startService } from '../support/service.ts'
import { figures } from './figures.ts'
import { adapted, freePorts, output, program } from './programs.ts'

const rules = join(root, 'deploy/prometheus/alerts.yaml')

describe('the alerts', () => {
  it('are rules that fire for each fault and stay quiet without one', async (t) => {
    const folder = await temporaryFolder(t)
    copyFileSync(rules, join(folder, 'alerts.yaml'))
    copyFileSync(join(root, 'test/deploy/alerts.yaml'), join(folder, 'tests.yaml'))
    output('promtool', 'check', 'rules', '--lint-fatal', join(folder, 'alerts.yaml'))
    output('promtool', 'test', 'rules', join(folder, 'tests.yaml'))
  })

  it('and the dashboard ask a Prometheus that reads the service for what it has', { timeout: 90_000 }, async (t) => {
    const service = await startService({ METRICS_TOKEN: 'read-me' })
    const folder = await temporaryFolder(t)
    const [port] = await freePorts(1)
    const file = join(folder, 'prometheus.yaml')
    copyFileSync(rules, join(folder, 'alerts.yaml'))
    writeFileSync(join(folder, 'metrics-token'), 'read-me')
    writeFileSync(
      file,
      adapted('prometheus/prometheus.yaml', {
        '127.0.0.1:8080': new URL(service.url).host,
        'scrape_interval: 15s': 'scrape_interval: 1s',
        'evaluation_interval: 15s': 'evaluation_interval: 1s'
      })
    )
    output('promtool', 'check', 'config', file)
    const headers = { authorization: 'Bearer read-me' }
    const { text } = await service.ask('GET', '/metrics', { headers })
    const checked = spawnSync(program('promtool'), ['check', 'metrics'], { input: text, encoding: 'utf8' })
    // A remark about names that prom-client gives is no fault of the format, which ends with 3.
    assert.notEqual(checked.status, 1, checked.stderr)
    assert.doesNotMatch(checked.stderr, /tidings_/)

    const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`]
    startChild(t, program('prometheus'), [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()
    const query = async (expr: string) =>
      (await ask(`query?query=${encodeURIComponent(expr)}`)) as { status: string; data: { result: unknown[] } }
    await eventually(async () => {
      const { data } = await query('count_over_time(up{job="tidings"}[1m]) > 2')
      assert.equal(data.result.length, 1)
    }, 60_000)
    for (const { of, expr } of figures()) assert.equal((await query(expr)).status, 'success', `${of}: ${expr}`)
    const shown = ['Nodes', 'Oldest ready job', 'Jobs', 'Memory', 'Event loop', 'Connections', 'Versions']
    for (const { of, expr } of figures())
      if (shown.includes(of)) assert.notEqual((await query(expr)).data.result.length, 0, `${of}: ${expr}`)
    await eventually(async () => {
      const { data } = (await ask('rules')) as { data: { groups: { rules: { name: string; health: string }[] }[] } }
      const all = data.groups.flatMap((group) => group.rules)
      assert.ok(all.length > 0)
      assert.deepEqual(
        all.filter(({ health }) => health !== 'ok'),
        []
      )
    })
    const { data } = (await ask('alerts')) as { data: { alerts: { state: string }[] } }
    assert.deepEqual(
      data.alerts.filter(({ state }) => state === 'firing'),
      []
    )
  })
})
