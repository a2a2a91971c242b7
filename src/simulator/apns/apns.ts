import { randomUUID } from 'node:crypto'
import { isUuid } from '../../platform/ids.ts'
import { jsonObject } from '../jwt.ts'
import { type Answer, decoded, type Gateway, html502, type Incoming, type Judgement } from '../server/gateway.ts'
import { nothing, readApns, subscribedChannel } from '../server/reading.ts'
import { allowStreams } from '../server/stream-limits.ts'
import { type Channels, findChannel, judgeChannels, requestIdFor } from './channels.ts'
import { type ApnsEnvironment, createProviderCheck, type ProviderKey } from './provider.ts'
import { type ApnsRefusal, statusOf } from './reasons.ts'
import { checkPayload, checkTopic, payloadLimit, pushTypes } from './rules.ts'

export interface ApnsRules {
  environment: ApnsEnvironment
  channels: Channels
  keys: ProviderKey[]
  /** Bundle ids the keys may send to; undefined means any. */
  topics?: readonly string[] | undefined
  /** `real`: one stream until a push is accepted, one again after a refusal. A number is a fixed limit. */
  streams: 'real' | number
}

export const manyStreams = 1_000

export function createApns(rules: ApnsRules): Gateway {
  const { environment, channels } = rules
  const checkProvider = createProviderCheck(rules.keys, environment)

  function check(incoming: Incoming, token: string | undefined, payload: Record<string, unknown> | undefined) {
    const { headers, body } = incoming
    if (token === undefined)
      return refusal('BadPath', 'The path is /3/device/<token>, or /4/broadcasts/apps/<bundle id> for a channel.')
    if (incoming.method !== 'POST') return refusal('MethodNotAllowed')
    return (
      checkRepeated(incoming) ??
      checkProvider(incoming) ??
      checkHeaders(headers) ??
      checkTopic(headers, rules.topics) ??
      checkToken(token, environment) ??
      checkSize(headers, body) ??
      checkPayload(headers, payload)
    )
  }

  async function checkBroadcast(incoming: Incoming, bundle: string, payload: Record<string, unknown> | undefined) {
    const { headers, body } = incoming
    if (incoming.method !== 'POST') return refusal('MethodNotAllowed')
    if (headers['apns-push-type'] === undefined) return refusal('MissingPushType')
    if (headers['apns-push-type'] !== 'liveactivity')
      return refusal('InvalidPushType', 'Only Live Activities listen to channels.')
    const caller = checkRepeated(incoming) ?? checkProvider(incoming) ?? checkHeaders(headers) ?? checkBundle(bundle)
    if (caller) return caller
    const found = await findChannel(channels, bundle, headers['apns-channel-id'])
    if ('reason' in found) return found
    const wrong = checkSize(headers, body, true) ?? checkPayload(headers, payload)
    if (wrong) return wrong
    if ((payload!.aps as { event: unknown }).event === 'start')
      return refusal('BadRequestPayload', 'A channel takes update and end: a start needs the token of its device.')
    if (found.storage === 0 && !/^0*$/.test(headers['apns-expiration'] ?? ''))
      return refusal('BadExpirationDate', 'The channel stores nothing: apns-expiration is 0.')
    return undefined
  }

  const checkBundle = (bundle: string) => checkTopic({ 'apns-topic': bundle, 'apns-push-type': 'alert' }, rules.topics)

  function judge(incoming: Incoming): Judgement | Promise<Judgement> {
    const part = /^\/3\/device\/([^/?]*)$/.exec(incoming.path)?.[1]
    const app = /^\/4\/broadcasts\/apps\/([^/?]+)$/.exec(incoming.path)?.[1]
    const token = part && decoded(part)
    const payload = jsonObject(incoming.body.toString())
    const judged = (refused: ApnsRefusal | undefined, channel: string | undefined): Judgement => ({
      token: token || null,
      payload: payload ?? incoming.body.toString(),
      push: payload ? readApns(payload) : nothing,
      channel,
      answer: refused ? refuseWith(refused, incoming) : accept(incoming, environment)
    })
    if (!app) return judged(check(incoming, token, payload), subscribedChannel(payload))
    const channel = incoming.headers['apns-channel-id']
    return checkBroadcast(incoming, decoded(app), payload).then((refused) => judged(refused, channel))
  }

  return {
    name: 'apns',
    judge,
    refuse(fault, incoming) {
      if (fault.kind === 'html') return html502
      const reason = fault.kind === 'badtoken' ? 'BadDeviceToken' : named(fault.status!, fault.argument)
      const timestamp = Number(fault.status === 410 && fault.argument) || Date.now()
      return refuseWith({ reason, status: fault.status!, timestamp }, incoming)
    },
    answered(connection, accepted) {
      if (rules.streams === 'real') allowStreams(connection.session, accepted ? manyStreams : 1)
    }
  }
}

/** The host that manages channels, a separate server as at Apple. */
export function createChannelHost(rules: ApnsRules): Gateway {
  const apns = createApns(rules)
  const checkProvider = createProviderCheck(rules.keys, rules.environment)
  return {
    name: 'apns',
    refuse: apns.refuse,
    judge: (incoming) =>
      judgeChannels(
        incoming,
        rules.channels,
        (request, bundle) =>
          checkRepeated(request) ??
          checkProvider(request) ??
          checkTopic({ 'apns-topic': bundle, 'apns-push-type': 'alert' }, rules.topics)
      )
  }
}

function checkRepeated({ repeated }: Incoming): ApnsRefusal | undefined {
  const name = repeated.find((each) => each.startsWith('apns-') || each === 'authorization')
  return name ? refusal('DuplicateHeaders', `${name} came twice.`) : undefined
}

const usual: Record<number, string> = {
  400: 'BadDeviceToken',
  403: 'InvalidProviderToken',
  404: 'BadPath',
  405: 'MethodNotAllowed',
  410: 'Unregistered',
  413: 'PayloadTooLarge',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable'
}

const named = (status: number, argument: string | undefined) =>
  argument && /^[A-Za-z]+$/.test(argument) ? argument : (usual[status] ?? 'InternalServerError')

const refusal = (reason: ApnsRefusal['reason'], detail?: string): ApnsRefusal => ({ reason, ...(detail && { detail }) })

/** The response has the id of the request, else a new one. */
const idFor = ({ headers }: Incoming) => {
  const given = headers['apns-id']
  return given && isUuid(given) ? given : randomUUID()
}

function accept(incoming: Incoming, environment: ApnsEnvironment): Answer {
  const id = idFor(incoming)
  const headers = {
    'apns-id': id,
    ...(incoming.headers['apns-channel-id'] && { 'apns-request-id': requestIdFor(incoming) }),
    // Only the sandbox returns the id of its delivery log.
    ...(environment === 'sandbox' && { 'apns-unique-id': randomUUID() })
  }
  return { status: 200, headers, reason: null, gatewayMessageId: id }
}

function refuseWith(refused: ApnsRefusal, incoming: Incoming): Answer {
  const { reason, detail } = refused
  const status = refused.status ?? statusOf(reason)
  const id = idFor(incoming)
  return {
    status,
    headers: { 'apns-id': id },
    body: JSON.stringify(status === 410 ? { reason, timestamp: refused.timestamp ?? Date.now() } : { reason }),
    reason,
    ...(detail && { detail }),
    gatewayMessageId: id
  }
}

function checkHeaders(headers: Incoming['headers']): ApnsRefusal | undefined {
  const id = headers['apns-id']
  if (id !== undefined && !isUuid(id)) return refusal('BadMessageId', 'apns-id is not a UUID.')
  const type = headers['apns-push-type']
  if (type !== undefined && !pushTypes.has(type))
    return refusal('InvalidPushType', `The push type ${type} does not exist.`)
  const expiration = headers['apns-expiration']
  if (expiration !== undefined && !/^\d{1,10}$/.test(expiration))
    return refusal('BadExpirationDate', 'apns-expiration is in whole seconds since 1970, or 0.')
  const priority = headers['apns-priority']
  if (priority !== undefined && !['1', '5', '10'].includes(priority))
    return refusal('BadPriority', 'apns-priority is 10, 5 or 1.')
  if (type === 'background' && priority !== '5') return refusal('BadPriority', 'A background push has priority 5.')
  if (type === 'liveactivity' && priority === '1')
    return refusal('BadPriority', 'A Live Activity has priority 10 or 5.')
  if (Buffer.byteLength(headers['apns-collapse-id'] ?? '') > 64)
    return refusal('BadCollapseId', 'apns-collapse-id is longer than 64 bytes.')
  return undefined
}

/**
 * Tokens have no fixed length: those of Live Activities are longer. `sim-` tokens stand for any device; those that name
 * an environment are valid only there.
 */
function checkToken(token: string, environment: ApnsEnvironment): ApnsRefusal | undefined {
  if (token === '') return refusal('MissingDeviceToken')
  const other = environment === 'sandbox' ? 'production' : 'sandbox'
  if (token.startsWith(`sim-${other}-`))
    return refusal('BadDeviceToken', `The token is for the ${other} environment, and this host is ${environment}.`)
  if (token.startsWith('sim-') || /^(?:[0-9a-fA-F]{2})+$/.test(token)) return undefined
  return refusal('BadDeviceToken', 'A token is an even number of hexadecimal digits.')
}

function checkSize(headers: Incoming['headers'], body: Buffer, toChannel = false): ApnsRefusal | undefined {
  if (body.length === 0) return refusal('PayloadEmpty')
  const limit = payloadLimit(headers['apns-push-type'], toChannel)
  return body.length > limit ? refusal('PayloadTooLarge', `More than ${limit} bytes.`) : undefined
}
