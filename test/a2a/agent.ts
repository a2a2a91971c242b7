import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { PushItem, SendCommand } from '../../src/channels/channels.ts'
import type { DeliveryResult, Messages } from '../../src/messages/messages.ts'
import { Refusal } from '../../src/platform/errors.ts'
import type { IdempotencyKey } from '../../src/platform/idempotency/idempotency.ts'
import type { Triggers } from '../../src/triggers/triggers.ts'
import type { Asked, Json, Reply } from '../support/http.ts'
import { ask } from '../support/http.ts'
import type { TestProject, TestService } from '../support/service.ts'

export type Name = 'plain' | 'official' | 'legacy'
export const names: Name[] = ['plain', 'official', 'legacy']

/** The spelling of the same call by each kind of client. */
const methods = {
  send: ['SendMessage', 'message/send'],
  stream: ['SendStreamingMessage', 'message/stream'],
  get: ['GetTask', 'tasks/get'],
  list: ['ListTasks', 'tasks/list'],
  cancel: ['CancelTask', 'tasks/cancel'],
  subscribe: ['SubscribeToTask', 'tasks/resubscribe'],
  createConfig: ['CreateTaskPushNotificationConfig', 'tasks/pushNotificationConfig/set'],
  getConfig: ['GetTaskPushNotificationConfig', 'tasks/pushNotificationConfig/get'],
  listConfigs: ['ListTaskPushNotificationConfigs', 'tasks/pushNotificationConfig/list'],
  deleteConfig: ['DeleteTaskPushNotificationConfig', 'tasks/pushNotificationConfig/delete'],
  card: ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']
} as const
export type Method = keyof typeof methods

export const state = (name: Name, plain: string) =>
  name === 'official' ? `TASK_STATE_${plain.toUpperCase().replaceAll('-', '_')}` : plain

/** A client with one spelling, for one project. */
export function agentOf(service: Pick<TestService, 'url'>, { secretKey }: Pick<TestProject, 'secretKey'>, name: Name) {
  const version: Record<string, string> = name === 'legacy' ? {} : { 'a2a-version': '1.0' }
  const methodOf = (method: Method) => methods[method][name === 'legacy' ? 1 : 0]
  const part = (content: { text: string } | { data: unknown }) =>
    name === 'legacy' ? { kind: 'text' in content ? 'text' : 'data', ...content } : content
  const message = (content: Json, more: Json = {}) => ({
    messageId: randomUUID(),
    role: name === 'official' ? 'ROLE_USER' : 'user',
    ...(name === 'legacy' && { kind: 'message' }),
    parts: typeof content === 'string' ? [part({ text: content })] : [part({ data: content })],
    ...more
  })
  const headers = { ...version, 'x-api-key': secretKey, 'content-type': 'application/json' }
  const call = (method: Method, params: Json = {}, asked: Asked = {}): Promise<Reply> =>
    ask(service.url, 'POST', '/a2a', {
      ...asked,
      json: { jsonrpc: '2.0', id: 'call-1', method: methodOf(method), params },
      headers: { ...headers, ...asked.headers }
    })
  const taskOf = (result: Json) => (name === 'legacy' ? result : result.task)
  async function result(method: Method, params: Json = {}, asked: Asked = {}): Promise<Json> {
    const reply = await call(method, params, asked)
    if (reply.status !== 200 || reply.json.error) throw new Error(`${method}: ${reply.status} ${reply.text}`)
    return reply.json.result
  }
  return {
    name,
    headers,
    methodOf,
    message,
    call,
    result,
    taskOf,
    state: (plain: string) => state(name, plain),
    /** Sends one message and returns its task. */
    send: async (content: Json, more: Json = {}, configuration?: Json): Promise<Json> =>
      taskOf(await result('send', { message: message(content, more), ...(configuration && { configuration }) })),
    /** The error of a call that must fail with HTTP 200. */
    async error(method: Method, params: Json = {}): Promise<Json> {
      const reply = await call(method, params)
      if (reply.status !== 200 || !reply.json.error) throw new Error(`${method}: ${reply.status} ${reply.text}`)
      return reply.json.error
    },
    get: (id: string, more: Json = {}): Promise<Json> => result('get', { id, ...more }),
    /** Opens a stream and passes on each event; the promise resolves when the stream ends. */
    stream: (method: Method, params: Json, onEvent: (result: Json, stop: () => void) => void = () => {}) =>
      openStream(service.url, headers, { jsonrpc: '2.0', id: 7, method: methodOf(method), params }, onEvent)
  }
}
export type Agent = ReturnType<typeof agentOf>

export interface Streamed {
  status: number
  headers: Record<string, unknown>
  text: string
  /** The results of its events. */
  events: Json[]
}

function openStream(
  url: string,
  headers: Record<string, string>,
  body: Json,
  onEvent: (result: Json, stop: () => void) => void
): Promise<Streamed> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method: 'POST', path: '/a2a', headers }, (response) => {
      let text = ''
      let seen = 0
      const events: Json[] = []
      const done = () => resolve({ status: response.statusCode!, headers: response.headers, text, events })
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
        const blocks = text.split('\n\n')
        for (const block of blocks.slice(seen, -1)) {
          if (!block.startsWith('data: ')) continue
          const envelope = JSON.parse(block.slice(6))
          if (envelope.id !== body.id || envelope.jsonrpc !== '2.0') reject(new Error(`another's event: ${block}`))
          events.push(envelope.result)
          onEvent(envelope.result, () => {
            outgoing.destroy()
            done()
          })
        }
        seen = blocks.length - 1
      })
      response.on('end', done)
      response.on('error', () => done())
    })
    outgoing.on('error', reject)
    outgoing.setTimeout(30_000, () => outgoing.destroy(new Error('nothing was heard for 30 s')))
    outgoing.end(JSON.stringify(body))
  })
}

/** The state that an event or a task shows, in lower case. */
export function toldState(event: Json): string {
  const status = (event.task ?? event.statusUpdate ?? event).status
  return String(status?.state).replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-')
}

const unfinished = new Set<() => void>()
/** Resolves when the test ends the slow calls, or after 3 s. */
const finished = () =>
  new Promise<void>((resolve) => {
    unfinished.add(resolve)
    setTimeout(resolve, 3_000)
  })

/** Stand-ins for the other capabilities; the user id decides what they do. */
export const doubles = {
  /** Ends the slow calls. */
  finish() {
    for (const end of unfinished) end()
    unfinished.clear()
  },
  sent: [] as Json[],
  triggered: [] as Json[],
  runs: new Set<string>(),
  messages: {
    async send(_: string, { items }: SendCommand, key: IdempotencyKey) {
      const [item] = items as PushItem[]
      const [who] = Object.values(item!.target)
      if (who === 'slow') await finished()
      if (who === 'crash') throw new Error('boom')
      // Like the real one, it repeats the result of a run and does not send again.
      if (!doubles.runs.has(key.key)) doubles.sent.push(item)
      doubles.runs.add(key.key)
      return { results: [resultFor(who!)], replayed: false }
    }
  } as Partial<Messages> as Messages,
  triggers: {
    async accept(_: string, { campaignId, audience, properties }: Json) {
      if (campaignId !== 'welcome') throw new Refusal('not_found', 'Failed to send campaign trigger message')
      doubles.triggered.push({ audience, properties })
      return { answer: { trigger_id: '0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17' }, replayed: false }
    }
  } as Partial<Triggers> as Triggers
}

function resultFor(who: string): DeliveryResult {
  const failed = who === 'nobody' ? '[USER_NOT_FOUND] No user.' : who === 'live' ? '[CREDENTIALS_MISSING] None.' : ''
  const status = failed ? 'DELIVERY_RESULT_STATUS_FAILED' : 'DELIVERY_RESULT_STATUS_SUCCEED'
  const additional_params = { device_id: '', gateway_message_id: '', failure_reason: failed }
  return { message_id: randomUUID(), status, additional_params }
}
