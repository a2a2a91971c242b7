import { randomUUID } from 'node:crypto'
import { isObject } from '../../platform/fields.ts'
import { checkPayload } from '../apns/rules.ts'
import type { ServiceAccount } from '../credentials.ts'
import { jsonObject } from '../jwt.ts'
import { type Answer, decoded, type Gateway, html502, type Incoming, type Judgement } from '../server/gateway.ts'
import { nothing, readFcm, subscribedChannel } from '../server/reading.ts'
import * as errors from './errors.ts'
import { checkShape } from './message.ts'
import { createAccessTokens } from './token.ts'

export interface FcmRules {
  accounts: ServiceAccount[]
  accessTokenSeconds: number
  /** Signs access tokens. */
  secret: string
}

/** The limit that Firebase advertises, roughly. */
export const fcmStreams = 100
const longestMessage = 4_096
const longestTopicMessage = 2_048

export function createFcm({ accounts, accessTokenSeconds, secret }: FcmRules): Gateway {
  const tokens = createAccessTokens(accounts, accessTokenSeconds, secret)

  function check(incoming: Incoming, project: string | undefined, payload: Record<string, unknown> | undefined) {
    if (project === undefined) return errors.notFound(incoming.path)
    if (incoming.method !== 'POST') return errors.methodNotAllowed()
    const [, token = ''] = /^bearer (\S+)$/i.exec(incoming.headers.authorization ?? '') ?? []
    const account = tokens.ownerOf(token)
    if (!account) return errors.unauthenticated()
    if (account.project_id !== project) return errors.permissionDenied(project)
    if (!payload)
      return errors.refuseArgument({ field: '', description: 'Invalid JSON payload received.' }, undefined, false)
    const violation = checkShape(payload)
    if (violation) {
      const message = `Invalid value at '${violation.field}': ${violation.description}`
      return errors.refuseArgument(violation, message, false)
    }
    return checkMessage(payload.message as Record<string, unknown>)
  }

  function judge(incoming: Incoming): Judgement {
    if (incoming.path === '/token')
      return { answer: tokens.issue(incoming), token: null, payload: null, push: nothing, listed: false }
    const part = /^\/v1\/projects\/([^/?]+)\/messages:send$/.exec(incoming.path)?.[1]
    const project = part === undefined ? undefined : decoded(part)
    const payload = jsonObject(incoming.body.toString())
    const message = isObject(payload?.message) ? payload.message : {}
    const refused = check(incoming, project, payload)
    return {
      token: typeof message.token === 'string' ? message.token : null,
      payload: payload ?? incoming.body.toString(),
      push: payload ? readFcm(payload) : nothing,
      channel: subscribedChannel(payload),
      answer: refused ?? accept(project!, payload?.validate_only === true)
    }
  }

  return {
    name: 'fcm',
    judge,
    refuse(fault) {
      if (fault.kind === 'html') return html502
      if (fault.kind === 'badtoken') return errors.badToken()
      const status = fault.status!
      const code = errors.codeFor(status, fault.argument)
      return errors.refuseFcm(
        code,
        code === 'QUOTA_EXCEEDED' || code === 'UNAVAILABLE' ? Number(fault.argument) || 1 : undefined
      )
    }
  }
}

function accept(project: string, onlyValidate: boolean): Answer {
  const name = `projects/${project}/messages/${onlyValidate ? 'fake_message_id' : randomUUID()}`
  return { status: 200, body: JSON.stringify({ name }), reason: null, gatewayMessageId: name }
}

/** Rules beyond the schema. */
function checkMessage(message: Record<string, unknown>): Answer | undefined {
  const targets = ['token', 'topic', 'condition'].filter(
    (name) => message[name] !== undefined && message[name] !== null
  )
  if (targets.length !== 1)
    return errors.refuseArgument({
      field: 'message',
      description: targets.length === 0 ? 'Recipient of the message is not set.' : 'Only one recipient may be set.'
    })
  const [target] = targets
  if (target === 'token' && !/^[\w:.-]{1,4096}$/.test(message.token as string)) return errors.badToken()
  if (target === 'topic' && !/^[\w.~%-]+$/.test(message.topic as string))
    return errors.refuseArgument({ field: 'message.topic', description: 'Invalid topic name.' })
  // Routing does not count, and each platform gets its own part: each is measured alone.
  const { android, apns, webpush } = message
  const common = sizeOf({ data: message.data, notification: message.notification })
  const largest = Math.max(...[{}, android, apns, webpush].map((part) => sizeOf(contentOf(part))))
  const limit = target === 'token' ? longestMessage : longestTopicMessage
  if (common + largest > limit)
    return errors.refuseArgument({ field: 'message', description: `Message is too big: more than ${limit} bytes.` })
  return checkActivity(apns)
}

const contentOf = (part: unknown) => (isObject(part) ? { d: part.data, n: part.notification, p: part.payload } : {})

/** The size without the braces and names around it. */
const sizeOf = (content: Record<string, unknown>) =>
  Object.values(content).reduce<number>(
    (sum, value) => sum + (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))),
    0
  )

/** With a token of a Live Activity, the payload must be one for Apple. */
function checkActivity(apns: unknown): Answer | undefined {
  if (!isObject(apns) || apns.live_activity_token === undefined) return undefined
  const payload = isObject(apns.payload) ? apns.payload : undefined
  const refused = checkPayload({ 'apns-push-type': 'liveactivity' }, payload)
  return (
    refused && errors.refuseArgument({ field: 'message.apns.payload', description: refused.detail ?? refused.reason })
  )
}
