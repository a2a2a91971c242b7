import { errorCatalogue, type RefusalCode } from '../../errors.ts'
import type { DocumentedRoute } from '../route.ts'
import { pathParameters, pathTemplate } from './names.ts'
import type { Schema } from './schema.ts'

export interface Ref {
  $ref: string
}

export interface Content {
  schema: Schema | Ref
  example?: unknown
}

export interface Answer {
  description: string
  headers?: Record<string, Ref>
  content?: Record<string, Content>
}

const header = (name: string): Record<string, Ref> => ({ [name]: { $ref: `#/components/headers/${name}` } })
const always = header('X-Request-ID')
export const counted = {
  ...always,
  ...header('X-RateLimit-Limit'),
  ...header('X-RateLimit-Remaining'),
  ...header('X-RateLimit-Reset')
}
const explained = { ...counted, ...header('X-Service-Error-Code'), ...header('X-Service-Error-Detail') }
const retry = header('Retry-After')

const plain = (schema: Schema, example: string): Record<string, Content> => ({ 'text/plain': { schema, example } })
const json = (example: unknown): Record<string, Content> => ({
  'application/json': { schema: { $ref: '#/components/schemas/Problem' }, example }
})
const refused = (code: RefusalCode, error: string, details?: unknown) =>
  json({ error, code, ...(details !== undefined && { details }) })

/** The responses that many operations share. */
export const sharedAnswers = {
  InvalidRequest: {
    description: 'The request is not valid; the details name what.',
    headers: counted,
    content: refused('malformed_body', 'name: must be a string', [{ path: 'name', message: 'must be a string' }])
  },
  KeyRefused: {
    description: 'A header is missing, or the key does not open this project.',
    headers: always,
    content: plain(
      { type: 'string', enum: ['Missing project id', 'Missing API key', 'Invalid API key'] },
      'Invalid API key'
    )
  },
  TokenRefused: {
    description: 'The token is missing, unknown or revoked.',
    headers: { ...always, ...header('WWW-Authenticate') },
    content: refused('invalid_token', 'The management token is unknown or revoked.')
  },
  Forbidden: {
    description: 'Known, but not allowed to do this.',
    headers: always,
    content: refused('forbidden', 'This needs the role admin; the token is a viewer.')
  },
  NotFound: {
    description: 'Nothing of that name is within reach.',
    headers: counted,
    content: refused('not_found', 'There is no such entry.')
  },
  NotFoundEmpty: { description: 'It does not exist. The body is empty.', headers: explained },
  NotAcceptable: {
    description: 'The header Accept does not name the types of the response.',
    headers: counted,
    content: refused('not_acceptable', 'Accept must name application/json and text/event-stream.')
  },
  Conflict: {
    description: 'It exists already, or changed since it was read.',
    headers: counted,
    content: refused('conflict', 'A project demo exists already, or is still being erased.')
  },
  BodyTooLarge: {
    description: 'The body is larger than this operation takes, 10 MiB at most; it was not read.',
    headers: counted,
    content: refused('body_too_large', 'The body is larger than 10 MiB.')
  },
  UnsupportedMediaType: {
    description: 'The content type is not the one this operation takes.',
    headers: counted,
    content: refused('unsupported_media_type', 'The content type must be application/json.')
  },
  RateLimited: {
    description: 'The rate limit is used up; Retry-After says for how long.',
    headers: { ...counted, ...retry },
    content: json({ error: 'Too Many Requests' })
  },
  Unavailable: {
    description:
      'The database is away or busy, the project has more than its share of a busy service (code overloaded), or the request took over 100 s. Try again after Retry-After.',
    headers: { ...always, ...retry },
    content: refused('unavailable', 'Service Unavailable')
  }
} satisfies Record<string, Answer>

type Shared = keyof typeof sharedAnswers

const sharedByStatus: Record<number, Shared> = {
  400: 'InvalidRequest',
  401: 'TokenRefused',
  403: 'Forbidden',
  404: 'NotFound',
  406: 'NotAcceptable',
  409: 'Conflict',
  413: 'BodyTooLarge',
  415: 'UnsupportedMediaType',
  429: 'RateLimited',
  503: 'Unavailable'
}

/** The error responses that a route can have, from its declaration; http/answers.ts makes them. */
export function errorAnswers(route: DocumentedRoute): Record<string, Answer | Ref> {
  const { wording = {}, security, bodyKind } = route
  const reads = bodyKind === 'json' || bodyKind === 'optional'
  const bytes = bodyKind === 'bytes'
  const params = pathParameters(pathTemplate(route.path))
  const hasParams = params.length > 0
  // The project of a path is looked up before the rest is checked, so any fault in its name is a 404.
  const judged = params.some((name) => security !== 'token' || name !== 'project_id')
  const found: Record<string, Answer | Ref> = {}
  const add = (shared: Shared, status: number) => (found[status] ??= { $ref: `#/components/responses/${shared}` })

  if (wording.invalid !== undefined) found[400] = fixedText(wording.invalid, Object.values(wording.texts ?? {}))
  else if (reads || judged || route.query) add('InvalidRequest', 400)
  if (security !== 'none') {
    add(route.plainUnauthorized ? 'KeyRefused' : 'TokenRefused', 401)
    add('RateLimited', 429)
    add('Unavailable', 503)
  }
  // A viewer's token has the fewest rights, and it allows reading.
  if (security === 'token' && route.access !== 'viewer') add('Forbidden', 403)
  if (wording.absent === 'empty') add('NotFoundEmpty', 404)
  else if (hasParams && wording.invalid === undefined) add('NotFound', 404)
  if (reads || bytes) add('BodyTooLarge', 413)
  if ((reads || bytes || bodyKind === 'stream') && wording.invalid === undefined) add('UnsupportedMediaType', 415)
  if (route.idempotent) found[409] = keyTaken
  for (const code of route.refusals ?? []) {
    const [status] = errorCatalogue[code]
    const shared = sharedByStatus[status]
    if (shared) add(shared, status)
  }
  return found
}

const keyTaken: Answer = {
  description: 'The idempotency key is in use (come back after Retry-After), or was used with another body.',
  headers: explained,
  content: plain(
    { type: 'string', enum: ['Idempotency key is in use', 'Idempotency key was used with another body'] },
    'Idempotency key is in use'
  )
}

const fixedText = (text: string, others: string[]): Answer => ({
  description: `The request is not valid. The text is always ${others.length > 0 ? 'one of these' : 'this one'}; two headers say what was wrong.`,
  headers: explained,
  content: plain(
    others.length > 0 ? { type: 'string', enum: [...new Set([text, ...others])] } : { type: 'string', const: text },
    text
  )
})
