import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../platform/errors.ts'
import { isObject } from '../platform/fields.ts'
import { parseJson } from '../platform/http/body.ts'
import type { CrossOrigin } from '../platform/http/cross-origin.ts'
import type { Mount } from '../platform/http/route.ts'
import { routesOn } from '../platform/http/routes.ts'
import type { Http } from '../platform/http/server.ts'
import type { Admission, ApiCaller, Identity } from '../projects/projects.ts'
import { userTokenHeader } from '../projects/projects.ts'
import type { Dropped, Intake } from './intake.ts'
import { type Kind, kinds, timeIn } from './message.ts'
import { settingsFor } from './settings.ts'

/** SDKs send 500 KB at most. */
const mostBytes = 1024 * 1024
/** SDKs send 250 at most. Each may log another user in, and a request must not keep the database busy for long. */
const mostMessages = 1_000
const mostReasons = 3
const mostCharacters = 256

/** SDKs in pages send their key as basic authentication and count their attempts. */
const pagesWithSdks: CrossOrigin = {
  origins: '*',
  sendable: 'Content-Type, Authorization, X-Retry-Count, X-Request-ID, X-Service-User-Token',
  readable: 'X-Request-ID, Retry-After, X-Service-Error-Code, X-Service-Error-Detail, X-Service-Warning'
}

/** Undefined: the key is in the body, which is not read yet. */
type Caller = ApiCaller | undefined

export interface IntakeNeeds {
  intake: Intake
  identity: Identity
  admission: Pick<Admission, 'byWriteKey' | 'withWriteKey'>
  baseUrlOf(request: FastifyRequest): string
}

/** The paths of Segment's protocol (docs/guides/intake.md), for SDKs that are pointed to this service. */
export function intakeRoutes(http: Http, { intake, identity, admission, baseUrlOf }: IntakeNeeds): void {
  const mount: Mount<Caller, never> = {
    prefix: '/v1',
    security: 'none',
    admit: admission.byWriteKey,
    // Requests whose key is in the body have no project yet: they take one share together. Current SDKs send a header.
    shareOf: (caller) => caller?.project.id ?? 'intake',
    crossOrigin: () => pagesWithSdks
  }
  const routes = routesOn<Caller, never>(http, [mount])

  async function take(
    { caller, body, request, reply }: { caller: Caller; body: unknown; request: FastifyRequest; reply: FastifyReply },
    kind: Kind | undefined
  ) {
    // A body that cannot be decompressed arrives as none.
    const sent = await parseJson((body as Buffer | undefined) ?? Buffer.alloc(0))
    if (!isObject(sent)) throw new Refusal('malformed_body', 'the body must be a JSON object')
    const { project, key } = caller ?? (await admission.withWriteKey(keyIn(sent), request, reply))
    if (!project.intake) throw intakeOff()
    const messages = kind ? [sent] : Array.isArray(sent.batch) ? sent.batch : undefined
    if (!messages) throw new Refusal('malformed_body', 'batch: must be a list of messages')
    if (messages.length > mostMessages)
      throw new Refusal('body_too_large', `batch: must have at most ${mostMessages} messages`)
    const asked = project.identityVerification && request.headers[userTokenHeader.toLowerCase()] === undefined
    const proven = asked ? undefined : await identity.userOf({ project, actor: '', ...(key && { key }) }, request)
    const arrival = { sentAt: timeIn(sent.sentAt), at: new Date() }
    warnOf(reply, await intake.take(project.id, { messages, kind, arrival, proven }), messages.length)
    return { success: true }
  }

  const options = {
    summary: 'Messages of analytics SDKs',
    bodyKind: 'bytes',
    maxBody: mostBytes,
    hidden: true
  } as const
  for (const kind of kinds)
    for (const path of [`/${kind}`, `/${kind[0]}`]) routes.post(path, options, (call) => take(call, kind))
  for (const path of ['/batch', '/import', '/b']) routes.post(path, options, (call) => take(call, undefined))
  // SDKs report figures about themselves here. The service has no use for them: they need no key and are not stored.
  routes.post('/m', { ...options, bodyKind: 'ignored' }, () => ({ success: true }))
  routes.get(
    '/projects/:write_key/settings',
    { summary: 'Settings of analytics SDKs', answer: Type.Unknown(), hidden: true },
    async ({ params, request, reply }) => {
      const { project } = await admission.withWriteKey(params.write_key, request, reply)
      if (!project.intake) throw intakeOff()
      return settingsFor(params.write_key!, baseUrlOf(request))
    }
  )
}

/** The key stands beside the batch, or in its messages. */
function keyIn(sent: Record<string, unknown>): unknown {
  const first = Array.isArray(sent.batch) ? sent.batch[0] : undefined
  return sent.writeKey ?? (isObject(first) ? first.writeKey : undefined)
}

/** The response stays as SDKs expect it; a person who looks for a lost message finds the reason in the header. */
function warnOf(reply: FastifyReply, dropped: Dropped[], sent: number): void {
  if (dropped.length === 0) return
  const lost = new Set(dropped.map(({ index }) => index)).size
  const reasons = dropped.slice(0, mostReasons).map(({ index, reason }) => `[${index}] ${reason}`)
  const text = `${lost} of ${sent} not stored in full: ${reasons.join('; ')}`
  reply.header('x-service-warning', text.slice(0, mostCharacters).replace(/[^\x20-\x7e]/gu, '?'))
}

const intakeOff = () =>
  new Refusal('intake_off', 'This project takes no messages of analytics SDKs: turn intake on in its settings.')
