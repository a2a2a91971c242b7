import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ReadableStream } from 'node:stream/web'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Unavailable } from '../platform/errors.ts'
import { isObject } from '../platform/fields.ts'
import { jsonType, parseJson } from '../platform/http/body.ts'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import { untilGone } from '../platform/http/streams/gone.ts'
import { faultIn } from '../platform/json/storable.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import type { Asked } from './asked.ts'
import type { Mcp } from './lazy.ts'
import { idOf } from './message-id.ts'

const Message = Type.Object({
  jsonrpc: Type.Literal('2.0', { description: 'The version of JSON-RPC.' }),
  id: Type.Optional(
    Type.Unsafe<string | number>({
      type: ['string', 'number'],
      description: 'Returned unchanged; notifications have none.'
    })
  ),
  method: Type.String({ description: 'tools/list, tools/call, resources/read and others.' }),
  params: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'The parameters of the method.' }))
})
const Answer = Type.Object({
  jsonrpc: Type.Literal('2.0', { description: 'The version of JSON-RPC.' }),
  id: Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'], description: 'The id of the call.' }),
  result: Type.Optional(Type.Unknown({ description: 'The result of the method.' })),
  error: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'Instead of a result: code and message.' }))
})

const example = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'find-user', arguments: { projectUserId: 'ana' } }
}

/** Deeper than any sensible call. */
const mostLevels = 64
/** Twice what 20,000 targets hold. */
const mostValues = 100_000

/** Refuses where the project has triggered as many campaigns as its plan allows. */
interface Limits {
  spendTrigger(reply: FastifyReply, project: ApiCaller['project']): undefined | Promise<undefined>
}

/** MCP over streamable HTTP. There are no sessions, so there is nothing to GET or DELETE. */
export function mcpRoutes(surface: Routes<ApiCaller, ApiAccess>, mcp: Mcp, limits: Limits): void {
  surface.post(
    '',
    {
      summary: 'Send a message of MCP',
      body: Message,
      maxBody: largestBody,
      bodyKind: 'bytes',
      answer: Answer,
      example,
      refusals: ['secret_key_required', 'forbidden', 'malformed_body', 'not_found', 'not_acceptable'],
      // A call with progress streams; each wait in it has a limit of its own.
      unlimited: true
    },
    async ({ caller, request, reply }) => {
      const read = await readMessage(request)
      if ('fault' in read) return refuse(reply, read)
      let isPutOff = false
      const asked: Asked = {
        caller,
        agent: agentOf(request, read.message),
        admit: ({ triggers }) => (triggers ? limits.spendTrigger(reply, caller.project) : undefined),
        putOff: () => {
          isPutOff = true
        }
      }
      const response = await mcp.answer(webRequest(request, reply), read.message, asked)
      const body = await begun(response)
      if (!isPutOff) return send(reply, response, body)
      body?.destroy()
      throw new Unavailable('A request of MCP was put off.')
    }
  )
}

interface Fault {
  status: 400 | 415
  code: number
  fault: string
  /** The id of the message, as far as it could be read. */
  id?: string | number | null
}

async function readMessage(request: FastifyRequest): Promise<{ message: Record<string, unknown> } | Fault> {
  if (!jsonType.test(request.headers['content-type'] ?? ''))
    return { status: 415, code: -32_000, fault: 'The content type must be application/json.' }
  let message: unknown
  try {
    message = await parseJson((request.body as Buffer | undefined) ?? Buffer.alloc(0), mostValues)
  } catch (error) {
    return { status: 400, code: -32_700, fault: `Parse error: ${(error as Error).message}.` }
  }
  // Earlier protocols had batches. A batch would be many calls for the price of one.
  if (!isObject(message)) return { status: 400, code: -32_600, fault: 'The body must be one message, a JSON object.' }
  const fault = faultIn(message, mostLevels, true)
  if (fault) return { status: 400, code: -32_602, fault: faultWords[fault], id: idOf(message) }
  // Nothing here changes by itself, so there is nothing to listen to, and no stream stays open.
  if (message.method === 'subscriptions/listen')
    return { status: 400, code: -32_601, fault: 'Method not found', id: idOf(message) }
  return { message }
}

const faultWords = {
  levels: `The message has more than ${mostLevels} levels.`,
  number: 'A number is out of range.',
  text: 'A string holds NUL or a lone surrogate.'
}

const refuse = (reply: FastifyReply, { status, code, fault: message, id = null }: Fault) =>
  reply.code(status).send({ jsonrpc: '2.0', id, error: { code, message } })

/** The name of the client: its own words in the current protocol; in earlier ones only `initialize` has them. */
function agentOf(request: FastifyRequest, { params }: Record<string, unknown>): string | undefined {
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {}
  const info = meta['io.modelcontextprotocol/clientInfo']
  const name =
    isObject(info) && typeof info.name === 'string'
      ? info.name
      : /^[^\s/]+/.exec(request.headers['user-agent'] ?? '')?.[0]
  return name?.slice(0, 100)
}

const passedOn = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'last-event-id'
]

/** The request without its key and its body, which were read before. Aborted when the client goes away. */
function webRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const headers = new Headers()
  for (const name of passedOn) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal: untilGone(reply) })
}

/** The body of a response, after its first bytes have arrived: until then it can still become a 503. */
async function begun({ body }: Response): Promise<Readable | undefined> {
  if (!body) return undefined
  const readable = Readable.fromWeb(body as ReadableStream)
  // Of a client that has gone, the body ends without any.
  await Promise.race([once(readable, 'readable'), once(readable, 'close')]).catch(() => {})
  return readable
}

async function send(reply: FastifyReply, response: Response, body: Readable | undefined): Promise<FastifyReply> {
  reply.code(response.status)
  for (const name of ['content-type', 'cache-control', 'allow']) {
    const value = response.headers.get(name)
    if (value !== null) reply.header(name, value)
  }
  if (!body) return reply.send()
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return reply.type('application/json; charset=utf-8').send(await text(body))
  reply.header('x-accel-buffering', 'no')
  return reply.send(body)
}
