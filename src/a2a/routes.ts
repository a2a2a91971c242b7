import { hash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../platform/errors.ts'
import { freeRoom } from '../platform/http/bodies/encodings.ts'
import { jsonType } from '../platform/http/body.ts'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import type { Agents } from './agents.ts'
import { jwksPath } from './card-signer.ts'
import { defaultDialect, unsupportedVersion, versionOf } from './dialects/choose.ts'
import { failure, readCall, success } from './envelope.ts'
import { AgentError, invalid } from './errors.ts'
import { extensionHeader, skillsExtension } from './extension.ts'
import type { Asked } from './operations.ts'

const Envelope = Type.Object({
  jsonrpc: Type.Literal('2.0', { description: 'The version of JSON-RPC.' }),
  id: Type.Unsafe<string | number>({ type: ['string', 'number'], description: 'Returned unchanged.' }),
  method: Type.String({ description: 'SendMessage, GetTask and others; message/send and others in version 0.3.' }),
  params: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'The parameters of the method.' }))
})
const Answer = Type.Object({
  jsonrpc: Type.Literal('2.0', { description: 'The version of JSON-RPC.' }),
  id: Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'], description: 'The id of the call.' }),
  result: Type.Optional(Type.Unknown({ description: 'The result of the method.' })),
  error: Type.Optional(
    Type.Unsafe<object>({ type: 'object', description: 'Instead of a result: code, message and data.' })
  )
})
const Card = Type.Object({
  name: Type.String({ description: 'The name of the agent.' }),
  description: Type.String({ description: 'The abilities of the agent in a sentence.' })
})

const Keys = Type.Object({
  keys: Type.Array(Type.Unsafe<object>({ type: 'object' }), { description: 'JSON Web Keys (RFC 7517).' })
})

const example = {
  jsonrpc: '2.0',
  id: '1',
  method: 'SendMessage',
  params: {
    message: {
      messageId: 'm-1',
      role: 'user',
      parts: [{ data: { skill: 'create-user', projectUserId: 'ana', properties: { plan: 'premium' } } }]
    }
  }
}

interface Limits {
  /** Refuses the call if the project has reached the campaign triggers a second of its plan. */
  spendTrigger(reply: FastifyReply, project: ApiCaller['project']): undefined | Promise<undefined>
  /** A check of the caller of a stream, which may last for hours; undefined if another part checks it. */
  stillValid(request: FastifyRequest): (() => Promise<boolean>) | undefined
}

/** Contract 4.8: JSON-RPC for agents. The caller is authenticated before a byte of the body is read. */
export function agentRoutes(surface: Routes<ApiCaller, ApiAccess>, agents: Agents, limits: Limits): void {
  for (const path of ['', '/']) {
    surface.post(
      path,
      {
        summary: 'Call the agent',
        body: Envelope,
        maxBody: largestBody,
        bodyKind: 'bytes',
        answer: Answer,
        example,
        refusals: ['secret_key_required', 'conflict', 'too_many_streams'],
        // A stream has no time limit; other calls end by the limits of the work that they wait for.
        unlimited: true,
        direct: true,
        hidden: path === '/'
      },
      ({ caller, request, reply }) =>
        answer(agents, caller, request, reply, {
          admit: ({ triggers }) => (triggers ? limits.spendTrigger(reply, caller.project) : undefined),
          stillValid: () => limits.stillValid(request)
        })
    )
  }
}

/** The addresses of the card: the contract's, the one of older protocols, and the one below the address for calls. */
const cardPaths = {
  '/.well-known/agent-card.json': 'Get the agent card',
  '/.well-known/agent.json': 'Get the agent card at the address of older protocols',
  '/a2a/.well-known/agent-card.json': 'Get the agent card below the address of the calls'
}

/** Contract 4.7: the public agent card. */
export function cardRoutes(open: Routes<null, never>, agents: CardSource): void {
  for (const [path, summary] of Object.entries(cardPaths))
    open.get(path, { summary, answer: Card }, ({ request, reply }) => sendCard(agents, request, reply))
  open.get(jwksPath, { summary: 'Get the public key of signed cards', answer: Keys }, ({ reply }) => {
    if (!agents.cardKeys) throw new Refusal('not_found', 'The agent cards of this installation are not signed.')
    reply.header('cache-control', 'public, max-age=300')
    return agents.cardKeys
  })
}

type CardSource = Pick<Agents, 'cardFacts' | 'startedAt' | 'cardKeys'>

function sendCard(agents: CardSource, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const dialect = defaultDialect(version(request))
  const body = JSON.stringify(dialect.card(agents.cardFacts(request)))
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
  // A card that contains a forwarded address is for its reader only: a shared cache must not serve it to others.
  const forwarded = ['x-forwarded-host', 'x-forwarded-proto'].some((name) => request.headers[name] !== undefined)
  reply.headers({
    etag,
    vary: [reply.getHeader('vary') ?? [], 'A2A-Version, Host', forwarded ? 'X-Forwarded-Host, X-Forwarded-Proto' : []]
      .flat()
      .join(', '),
    'cache-control': `${forwarded ? 'private' : 'public'}, max-age=300`,
    'last-modified': agents.startedAt.toUTCString()
  })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(body)
}

/** Whether a cache holds this version of the card. A proxy that compresses turns the tag into a weak one. */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((one) => [etag, '*'].includes(one.trim().replace(/^W\//, ''))) === true

const version = (request: FastifyRequest) =>
  versionOf(request.headers['a2a-version'], (request.query as Record<string, unknown>)['A2A-Version'])

async function answer(
  agents: Agents,
  caller: ApiCaller,
  request: FastifyRequest,
  reply: FastifyReply,
  rights: Pick<Asked, 'admit' | 'stillValid'>
) {
  const asked = version(request)
  const extension = extensionHeader(request)
  if (extension) reply.header(extension, skillsExtension)
  let dialect = defaultDialect(asked)
  const type = request.headers['content-type']
  if (type === undefined || !jsonType.test(type)) {
    const error = new AgentError('content_type_not_supported', 'The content type must be application/json.')
    return send(reply.code(415), failure(null, error, dialect))
  }
  const { id, call: read } = await readCall(request.body as Buffer | undefined)
  try {
    const call = read()
    if (!asked) throw unsupportedVersion()
    dialect = agents.dialectOf(call, asked)
    const found = await agents.answer(
      {
        caller,
        agent: productOf(request.headers['user-agent']),
        version: asked,
        call,
        idempotencyKey: keyOf(request),
        ...rights,
        cardFacts: () => (extension ? agents.wholeCardFacts(request, caller) : agents.cardFacts(request))
      },
      dialect
    )
    if ('result' in found) return send(reply, success(call.id, found.result))
    reply.headers({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    // A stream may last for hours, and its body was read.
    freeRoom(request)
    return reply.type('text/event-stream').send(found.stream)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'too_many_streams') reply.header('retry-after', 1)
    const refused = asAgentError(error)
    if (!refused) throw error
    if (refused.fault === 'key_in_use') reply.header('retry-after', 1)
    if (refused.fault === 'key_in_use' || refused.fault === 'key_used') reply.code(409)
    return send(reply, failure(id, refused, dialect))
  }
}

const send = (reply: FastifyReply, body: unknown) =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(body))

/** Refusals that the platform turns into HTTP responses: an invalid key, a limit, an unavailable database. */
const httpRefusals: ReadonlySet<string> = new Set([
  'invalid_api_key',
  'rate_limited',
  'too_many_streams',
  'unavailable'
])

function asAgentError(error: unknown): AgentError | undefined {
  if (error instanceof AgentError) return error
  if (error instanceof Refusal && !httpRefusals.has(error.code)) return new AgentError('invalid_params', error.message)
  return undefined
}

/** The first product of a User-Agent header, such as `a2a-js/1.3.0`. */
const productOf = (header: string | undefined) => header?.match(/^[\x21-\x7e]{1,100}(?= |$)/)?.[0]

function keyOf(request: FastifyRequest): string {
  const given = request.headers['x-service-idempotency-key']
  if (given === undefined || given === '') return ''
  if (typeof given !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(given))
    throw invalid('X-Service-Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
  return given
}
