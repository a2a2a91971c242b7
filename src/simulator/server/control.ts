import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorCatalogue, OperatorError, Refusal } from '../../platform/errors.ts'
import { http } from '../../platform/net/node-http.ts'
import type { Faults } from '../faults/faults.ts'
import { changeFaults, showFaults } from '../faults/settings.ts'
import { jsonObject } from '../jwt.ts'
import type { Subscription } from '../webpush/crypto.ts'
import type { SubscriptionRequest } from '../webpush/webpush.ts'
import type { GatewayName, Ledger } from './ledger.ts'

export interface Controlled {
  ledger: Ledger
  faults: Faults
  /** The response to `GET /`. */
  overview: () => Record<string, unknown>
  subscribe: (wanted: SubscriptionRequest) => Subscription
}

type Route = (body: Record<string, unknown>, query: URLSearchParams) => unknown

const longestBody = 64 * 1024

function routesOf({ ledger, faults, overview, subscribe }: Controlled): Record<string, Route> {
  return {
    'GET /': overview,
    'GET /faults': () => showFaults(faults),
    'PUT /faults': (body) => {
      changeFaults(faults, body)
      return showFaults(faults)
    },
    'DELETE /faults': () => {
      faults.reset()
      return showFaults(faults)
    },
    'GET /inbox': (_, query) => {
      const [gateway, token, deviceId] = ['gateway', 'token', 'device_id'].map((name) => query.get(name) ?? undefined)
      return {
        items: ledger
          .items({
            ...(gateway && { gateway: gateway as GatewayName }),
            ...(token && { token }),
            ...(deviceId && { deviceId })
          })
          .reverse()
      }
    },
    'DELETE /inbox': () => {
      ledger.clear()
      return { items: [] }
    },
    'POST /subscriptions': ({ label, application_server_key: key }) =>
      subscribe({
        ...(typeof label === 'string' && { label }),
        ...(typeof key === 'string' && { applicationServerKey: key })
      })
  }
}

/** A small server for other processes: faults, inbox, subscriptions. */
export async function startControl(host: string, port: number, controlled: Controlled) {
  const routes = routesOf(controlled)
  const server = http.createServer((request, response) => {
    respond(routes, controlled.ledger, request, response).catch((error: unknown) => {
      const refusal = error instanceof Refusal ? error : new Refusal('internal_error', String(error))
      send(response, errorCatalogue[refusal.code][0], {
        error: refusal.message,
        code: refusal.code,
        ...(refusal.details.length > 0 && { details: refusal.details })
      })
    })
  })
  server.listen(port, host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`The simulator cannot listen on ${host}:${port} (${error.code}).`, 1, { cause: error })
  })
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}

async function respond(
  routes: Record<string, Route>,
  ledger: Ledger,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://simulator')
  const route = routes[`${request.method} ${url.pathname}`]
  if (!route)
    throw new Refusal('not_found', `${request.method} ${url.pathname} does not exist. See docs/guides/simulator.md.`)
  if (url.pathname === '/inbox' && request.headers.accept?.includes('text/event-stream'))
    return stream(ledger, response)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > longestBody) throw new Refusal('body_too_large', 'The body is larger than 64 KiB.')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  const body = text === '' ? {} : jsonObject(text)
  if (!body) throw new Refusal('malformed_body', 'The body must be a JSON object.')
  send(response, 200, route(body, url.searchParams))
}

function stream(ledger: Ledger, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.flushHeaders()
  const stop = ledger.subscribe((item) => response.write(`id: ${item.id}\ndata: ${JSON.stringify(item)}\n\n`))
  response.on('close', stop)
}

function send(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(value)}\n`)
}
