import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue, Refusal, type RefusalCode, Unavailable } from '../errors.ts'
import { inUnits } from '../fields.ts'
import type { Log } from '../log.ts'

/** The wording of a route's refusals, if the contract fixes it. */
export interface Wording {
  /** The plain text of every 400 of this route (contract section 7). */
  invalid?: string
  /** Further texts of the contract, for some causes. */
  texts?: Partial<Record<RefusalCode, string>>
  /** A 404 without a body. */
  absent?: 'empty'
  /** 401 as plain text instead of JSON. */
  plainUnauthorized?: boolean
}

const retryAfterSeconds = 1

/** Turns an error into a response. No other code does. `draining`: the response asks its client for a new connection. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Log,
  draining = false
): FastifyReply {
  const refusal = asRefusal(error, request)
  // It says what a success ignored.
  reply.removeHeader('x-service-warning')
  if (!refusal) {
    log.error({ error, request_id: request.id, route: request.routeOptions.url }, 'a request failed')
    return reply.code(500).send({ error: 'Internal Server Error' })
  }
  const [status] = errorCatalogue[refusal.code]
  const wording = request.routeOptions.config.wording ?? {}
  if (status === 503) {
    // A log line for each shed request would cost more than shedding it; a metric counts them.
    const level = refusal.code === 'overloaded' ? 'debug' : 'warn'
    log[level](
      { reason: refusal.message, request_id: request.id, route: request.routeOptions.url },
      'a request was put off'
    )
    return reply
      .code(503)
      .header('retry-after', retryAfterSeconds)
      .send({ error: 'Service Unavailable', code: refusal.code })
  }
  // Fastify closes the connection after a body that it refused. A client that is still sending would never see the
  // reason.
  if (!draining) reply.removeHeader('connection')
  if (status === 413) readToTheEnd(request)
  if (status === 429) {
    if (!reply.hasHeader('retry-after')) reply.header('retry-after', retryAfterSeconds)
    return explain(reply.code(429), refusal).send({ error: 'Too Many Requests' })
  }
  if (status === 401) reply.header('www-authenticate', wording.plainUnauthorized ? 'ApiKey' : 'Bearer')
  if ((status === 401 || status === 403) && wording.plainUnauthorized && !ofPolicy.has(refusal.code))
    return text(explain(reply.code(status), refusal), refusal.message)
  if ((status === 400 || status === 415) && wording.invalid !== undefined) {
    return text(explain(reply.code(400), refusal), wording.texts?.[refusal.code] ?? wording.invalid)
  }
  if (status === 409 && wording.invalid !== undefined) return text(explain(reply.code(409), refusal), refusal.message)
  if (status === 404 && wording.absent === 'empty') return explain(reply.code(404), refusal).send()
  return reply.code(status).send({
    error: refusal.message,
    code: refusal.code,
    ...(refusal.details.length > 0 && { details: refusal.details })
  })
}

/** Only keys with a policy get these errors, and they are JSON on every route. */
const ofPolicy: ReadonlySet<RefusalCode> = new Set([
  'policy_refused',
  'approval_required',
  'confirmation_required',
  'dry_run_only'
])

/** How long a body that is too large may continue to arrive. Node reads and drops it. */
const drainMs = 30_000

function readToTheEnd({ raw }: FastifyRequest): void {
  // A compressed body was read whole before it turned out to be too large.
  if (raw.closed) return
  const cut = setTimeout(() => raw.destroy(), drainMs)
  raw.once('close', () => clearTimeout(cut))
}

const text = (reply: FastifyReply, body: string) => reply.type('text/plain; charset=utf-8').send(body)

/** If the contract fixes the body, two headers name the fault. */
function explain(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const faults = refusal.details.map(({ path, message }) => `${path}: ${message}`)
  const line = inOneLine(faults.length > 0 ? faults : [refusal.message])
  return reply.header('x-service-error-code', refusal.code).header('x-service-error-detail', line)
}

const mostCharacters = 500

const ofMore = '; and more'

/** As many whole faults as the header may hold. */
function inOneLine(faults: string[]): string {
  // Escapes make it longer only, and a character outside of the header's set costs more to escape than to cut.
  const line = printable(faults.join('; ').slice(0, 2 * mostCharacters))
  if (line.length <= mostCharacters) return line
  const cut = line.slice(0, mostCharacters - ofMore.length)
  const end = cut.lastIndexOf('; ')
  return (end > 0 ? cut.slice(0, end) : cut) + ofMore
}

/** Makes printable ASCII, which a header can hold, also of property names that callers chose. */
const printable = (line: string): string =>
  line.replace(/[^\x20-\x7e]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)

function asRefusal(error: unknown, { routeOptions }: FastifyRequest): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (error instanceof Unavailable) return new Refusal(error.code, error.message)
  const { code, statusCode, message } = error as FastifyError
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('body_too_large', `The body is larger than ${inUnits(routeOptions.bodyLimit)}.`)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('unsupported_media_type', 'The content type must be application/json.')
    // The client disconnected in the middle of its body or before a stream began, so no one reads the response.
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return new Refusal('malformed_request', 'The connection was closed early.')
    // A related row was deleted or inserted again and again meanwhile (db/races.ts): the same request may succeed later.
    case '23503':
    case '23505':
      return new Refusal('unavailable', 'Others changed the same at the same time.')
    default:
      return statusCode && statusCode >= 400 && statusCode < 500 ? new Refusal('malformed_request', message) : undefined
  }
}
