import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { createSampler } from '../../src/platform/telemetry/sampler.ts'
import { ended, givenCampaign, trigger, users } from '../support/campaigns.ts'
import { attributesOf, startCollector } from '../support/collector.ts'
import { migratedDatabase } from '../support/database.ts'
import { ask, type Json } from '../support/http.ts'
import { metricOf } from '../support/metrics.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually, startService } from '../support/service.ts'

const collector = await startCollector()

/** Sends half of a request and disconnects. */
async function leaveEarly(url: string, headers: Record<string, string>): Promise<void> {
  const asked = request(`${url}/api/v1/users`, { method: 'POST', headers: { ...headers, 'content-length': '100' } })
  asked.on('error', () => {})
  asked.write('{')
  const [socket] = await once(asked, 'socket')
  await once(socket, 'connect')
  socket.end()
  await once(asked, 'close')
}

describe('OpenTelemetry', () => {
  it('gets a span for each request and job, under the trace of the caller, with routes and not paths', async () => {
    const service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` })
    const project = await service.project()
    const trace = 'a'.repeat(32)
    await project.call('PATCH', '/api/v1/users/very-private', {
      json: {},
      headers: { traceparent: `00-${trace}-${'b'.repeat(16)}-01` }
    })
    await project.call('GET', '/api/v1/users/x', { headers: { traceparent: 'broken' } })
    await project.call('GET', '/api/v1/users/y', {
      headers: { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00` }
    })
    await leaveEarly(service.url, { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey })
    await service.manage('DELETE', `/projects/${project.id}`)
    await service.app.idle()
    await service.close()
    const spans = collector.spans()
    const patch = spans.find((span: Json) => span.name === 'PATCH /api/v1/users/{project_user_id}')!
    assert.deepEqual([patch.traceId, patch.parentSpanId], [trace, 'b'.repeat(16)])
    assert.equal(attributesOf(patch)['http.response.status_code'], '404')
    const left = spans.filter((span: Json) => attributesOf(span)['error.type'] === 'client_closed_request')
    assert.deepEqual(
      left.map(({ name }: Json) => name),
      ['POST /api/v1/users']
    )
    assert.ok(spans.some((span: Json) => span.name === 'job projects.erase'))
    assert.ok(!spans.some(({ traceId }: Json) => traceId === 'c'.repeat(32)), 'its caller did not sample it')
    assert.ok(!JSON.stringify(collector.received).includes('very-private'))
  })

  it('gets one trace from a request through its jobs to the calls of the gateways', async () => {
    const service = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=shop%20one',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test'
    })
    const project = await service.project({ mode: 'simulator' })
    const phone = { platform: 'IOS', project_user_id: 'ana', device_id: 'phone' }
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json: phone })
    await givenCampaign(service, project)
    const [small, large] = ['1'.repeat(32), '2'.repeat(32)]
    const traced = (trace: string) => ({ headers: { traceparent: `00-${trace}-${'b'.repeat(16)}-01` } })
    for (const [trace, body] of [
      [small, users('ana')],
      [large, { audience: { broadcast: true } }]
    ] as const) {
      const { json } = await trigger(project, body, 'news', traced(trace!))
      assert.equal((await ended(project, json.trigger_id)).counts.sent, 1)
    }
    await service.app.idle()
    await service.close()

    for (const trace of [small, large]) {
      const spans = collector.spans().filter(({ traceId }: Json) => traceId === trace)
      const byId = new Map(spans.map((span: Json) => [span.spanId, span]))
      const push = spans.find(({ name }: Json) => name === 'push apns')
      assert.ok(push, JSON.stringify(spans))
      assert.equal(attributesOf(push)['tidings.outcome'], 'accepted')
      const way = [push]
      for (let span = byId.get(push.parentSpanId); span; span = byId.get(span.parentSpanId)) way.unshift(span)
      assert.equal(way[0].name, 'POST /api/v1/campaigns/{campaign_id}:trigger')
      assert.ok(way.length > 2 && way.slice(1, -1).every(({ name }) => name.startsWith('job campaigns.')))
      assert.equal(way[0].parentSpanId, 'b'.repeat(16))
    }
    const { headers, body } = collector.received.findLast(({ path }) => path === '/v1/traces')!
    assert.deepEqual([headers['x-team'], headers['content-encoding']], ['shop one', 'gzip'])
    const resource = attributesOf(body.resourceSpans[0].resource)
    assert.deepEqual([resource['service.name'], resource['deployment.environment.name']], ['tidings', 'test'])
  })

  it('gets the metrics of /metrics, and a collector that refuses costs data and no request', async () => {
    const before = collector.metrics().length
    const service = await startService({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/refused`,
      OTEL_METRIC_EXPORT_INTERVAL: '1000'
    })
    const project = await service.project()
    collector.respond(400)
    for (let n = 0; n < 20; n += 1) assert.equal((await project.call('GET', '/api/v1/users/x')).status, 404)
    await eventually(async () =>
      assert.ok((await metricOf(service, 'tidings_telemetry_dropped_total', { signal: 'traces' })) > 0)
    )
    collector.respond(200)
    await eventually(() => assert.ok(collector.metrics().length > before))
    await service.close()
    const metrics = new Map(collector.metrics().map((metric: Json) => [metric.name, metric]))
    const requests = metrics.get('tidings_http_requests_total')!.sum
    const mine = (point: Json) => attributesOf(point).route === '/api/v1/users/:project_user_id'
    assert.deepEqual([requests.isMonotonic, requests.dataPoints.find(mine).asDouble], [true, 20])
    const { explicitBounds, bucketCounts, count } = metrics
      .get('tidings_http_request_duration_seconds')!
      .histogram.dataPoints.find(mine)
    assert.equal(bucketCounts.length, explicitBounds.length + 1)
    assert.equal(
      bucketCounts.reduce((sum: number, one: string) => sum + Number(one), 0),
      Number(count)
    )
    assert.equal(typeof metrics.get('process_resident_memory_bytes')!.gauge.dataPoints[0].asDouble, 'number')
  })

  it('samples the share of traces that is configured, and follows callers', () => {
    const ids = Array.from({ length: 4_000 }, (_, n) => createHash('sha256').update(String(n)).digest('hex').slice(32))
    const quarter = createSampler('parentbased_traceidratio', 0.25)
    const share = ids.filter((id) => quarter(id, undefined)).length / ids.length
    assert.ok(share > 0.2 && share < 0.3, String(share))
    assert.deepEqual([quarter(ids[0]!, true), quarter(ids[0]!, false)], [true, false])
  })
})

describe('logs', () => {
  it('are lines of JSON on stderr and hold neither keys nor personal data, whatever goes wrong', async (t) => {
    const { url } = await migratedDatabase(t)
    const secret = 'svc_sk_do-not-log-me-please'
    const program = startProgram(t, {
      DATA_DIR: await temporaryFolder(t),
      DATABASE_URL: url,
      LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${collector.url}/v1/logs`,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      BOOTSTRAP_PROJECT_ID: 'shop',
      BOOTSTRAP_SECRET_KEY: secret
    })
    const base = await program.ready
    const headers = { 'x-service-project-id': 'shop', 'x-service-api-key': secret }
    await ask(base, 'POST', '/api/v1/users', {
      json: { project_user_id: 'ana@private.example', properties: { email: 'ana@private.example' } },
      headers
    })
    await ask(base, 'POST', '/api/v1/users', {
      body: '{"ana@private.example',
      headers: { ...headers, 'content-type': 'application/json' }
    })
    await ask(base, 'PATCH', '/api/v1/users/ana%40private.example', { json: { properties: { a: [] } }, headers })
    await ask(base, 'GET', '/api/v1/users/ana%40private.example', {
      headers: { ...headers, 'x-service-api-key': 'svc_sk_wrong-but-still-secret' }
    })
    program.child.kill('SIGTERM')
    await program.exited
    const lines = program.stderr().trimEnd().split('\n')
    assert.ok(lines.length > 0 && lines.every((line) => JSON.parse(line).msg))
    // The collector gets the same lines, with the ids of their traces.
    const created = lines
      .map((line) => JSON.parse(line))
      .find(({ route, status }) => route === '/api/v1/users' && status === 200)
    const record = collector.logs().find(({ spanId }: Json) => spanId === created.span_id)
    assert.ok(record, JSON.stringify(created))
    assert.deepEqual(
      [record.body.stringValue, record.severityText, record.traceId],
      ['answered', 'DEBUG', created.trace_id]
    )
    assert.ok(
      collector.spans().some(({ traceId, spanId }: Json) => traceId === record.traceId && spanId === record.spanId)
    )
    assert.doesNotMatch(JSON.stringify(collector.received), /private\.example|wrong-but-still-secret|do-not-log-me/)
    for (const text of [secret, 'private.example', 'wrong-but-still-secret'])
      assert.ok(!program.stderr().includes(text), text)
  })
})
