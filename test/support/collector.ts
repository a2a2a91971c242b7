import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { after } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Json } from './http.ts'

/** A collector of OpenTelemetry that keeps what it receives. */
export async function startCollector() {
  const received: { path: string; headers: IncomingMessage['headers']; body: Json }[] = []
  const state = { status: 200 }
  const server = createServer(async (sent, response) => {
    const bytes = await buffer(sent)
    const body = sent.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
    if (state.status === 200)
      received.push({ path: sent.url ?? '', headers: sent.headers, body: JSON.parse(body.toString()) })
    response.writeHead(state.status).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as { port: number }
  const items = (path: string, [outer, inner, list]: [string, string, string]): Json[] =>
    received
      .filter((one) => one.path === path)
      .flatMap(({ body }) => body[outer])
      .flatMap((resource: Json) => resource[inner])
      .flatMap((scope: Json) => scope[list])
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    /** The status of all further responses. */
    respond(status: number) {
      state.status = status
    },
    spans: () => items('/v1/traces', ['resourceSpans', 'scopeSpans', 'spans']),
    metrics: () => items('/v1/metrics', ['resourceMetrics', 'scopeMetrics', 'metrics']),
    logs: () => items('/v1/logs', ['resourceLogs', 'scopeLogs', 'logRecords'])
  }
}

/** The attributes of a span, a point or a record as plain values. */
export const attributesOf = ({ attributes }: Json): Json =>
  Object.fromEntries(attributes.map(({ key, value }: Json) => [key, Object.values(value)[0]]))
