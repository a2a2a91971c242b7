import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { after, describe, it } from 'node:test'
import { migratedDatabase } from '../support/database.ts'
import { ask, type Json } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { startService } from '../support/service.ts'

const received: Json[] = []
const collector = createServer((sent, response) => {
  let text = ''
  sent.on('data', (chunk) => {
    text += chunk
  })
  sent.on('end', () => {
    if (sent.url === '/v1/traces') received.push(JSON.parse(text))
    response.end('{}')
  })
}).listen(0, '127.0.0.1')
await new Promise((resolve) => collector.once('listening', resolve))
after(() => {
  collector.close()
  collector.closeAllConnections()
})
const { port } = collector.address() as { port: number }

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
    const service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/` })
    const project = await service.project()
    const trace = 'a'.repeat(32)
    await project.call('PATCH', '/api/v1/users/very-private', {
      json: {},
      headers: { traceparent: `00-${trace}-${'b'.repeat(16)}-01` }
    })
    await project.call('GET', '/api/v1/users/x', { headers: { traceparent: 'broken' } })
    await leaveEarly(service.url, { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey })
    await service.manage('DELETE', `/projects/${project.id}`)
    await service.app.idle()
    await service.close()
    const spans = received
      .flatMap((sent) => sent.resourceSpans)
      .flatMap((resource: Json) => resource.scopeSpans)
      .flatMap((scope: Json) => scope.spans)
    const patch = spans.find((span: Json) => span.name === 'PATCH /api/v1/users/:project_user_id')
    assert.equal(patch.traceId, trace)
    assert.equal(patch.parentSpanId, 'b'.repeat(16))
    assert.ok(
      patch.attributes.some(
        (attribute: Json) => attribute.key === 'http.response.status_code' && attribute.value.intValue === 404
      )
    )
    const left = spans.filter((span: Json) => JSON.stringify(span.attributes).includes('client_closed_request'))
    assert.deepEqual(
      left.map(({ name }: Json) => name),
      ['POST /api/v1/users']
    )
    assert.ok(spans.some((span: Json) => span.name === 'job projects.erase'))
    assert.ok(!JSON.stringify(received).includes('very-private'))
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
    for (const text of [secret, 'private.example', 'wrong-but-still-secret'])
      assert.ok(!program.stderr().includes(text), text)
  })
})
