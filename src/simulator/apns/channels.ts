import { randomBytes, randomUUID } from 'node:crypto'
import { isObject } from '../../platform/fields.ts'
import { isUuid } from '../../platform/ids.ts'
import { jsonObject } from '../jwt.ts'
import { type Answer, decoded, type Incoming, type Judgement } from '../server/gateway.ts'
import { nothing } from '../server/reading.ts'
import { type ApnsRefusal, statusOf } from './reasons.ts'

/** The channels of one environment. A broadcast to a channel reaches every Live Activity that subscribed to it. */
export interface Channels {
  find(bundle: string, id: string): Channel | undefined
  /** Undefined if the app has the most channels that Apple allows. */
  create(bundle: string, channel: Channel): string | undefined
  remove(bundle: string, id: string): boolean
  list(bundle: string): string[]
}

export interface Channel {
  /** 1: the newest push is stored for devices that are offline. */
  storage: 0 | 1
}

const mostChannels = 10_000

export function createChannels(): Channels {
  const apps = new Map<string, Map<string, Channel>>()
  const of = (bundle: string) => apps.get(bundle) ?? new Map<string, Channel>()
  return {
    find: (bundle, id) => of(bundle).get(id),
    create(bundle, channel) {
      const known = of(bundle)
      if (known.size >= mostChannels) return undefined
      const id = randomBytes(16).toString('base64')
      apps.set(bundle, known.set(id, channel))
      return id
    },
    remove: (bundle, id) => of(bundle).delete(id),
    list: (bundle) => [...of(bundle).keys()]
  }
}

/** Apple returns the id of the request, else a new one. */
export function requestIdFor({ headers }: Incoming): string {
  const given = headers['apns-request-id']
  return given && isUuid(given) ? given : randomUUID()
}

/** Checks the channel that a request names. */
export function checkChannel(channels: Channels, bundle: string, id: string | undefined): ApnsRefusal | undefined {
  if (!id) return { reason: 'MissingChannelId', detail: 'The header apns-channel-id names the channel.' }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(id)) return { reason: 'BadChannelId', detail: 'A channel id is base64.' }
  return channels.find(bundle, id) ? undefined : { reason: 'ChannelNotRegistered' }
}

/** The host that creates, shows and deletes channels. Its requests are no pushes, so the ledger has none of them. */
export function judgeChannels(
  incoming: Incoming,
  channels: Channels,
  checkCaller: (incoming: Incoming, bundle: string) => ApnsRefusal | undefined
): Judgement {
  const [, part, what] = /^\/1\/apps\/([^/?]+)\/(channels|all-channels)$/.exec(incoming.path) ?? []
  const bundle = part && decoded(part)
  const answer = bundle ? manage(bundle, what!) : refusal({ reason: 'BadPath' })
  return { answer, token: null, payload: null, push: nothing, listed: false }

  function manage(bundle: string, what: string): Answer {
    const refused = checkCaller(incoming, bundle)
    if (refused) return refusal(refused)
    if (what === 'all-channels')
      return incoming.method === 'GET'
        ? answerWith(200, { channels: channels.list(bundle) })
        : refusal({ reason: 'MethodNotAllowed' })
    if (incoming.method === 'POST') return create(bundle)
    if (incoming.method !== 'GET' && incoming.method !== 'DELETE') return refusal({ reason: 'MethodNotAllowed' })
    const id = incoming.headers['apns-channel-id']
    const wrong = checkChannel(channels, bundle, id)
    if (wrong) return refusal(wrong)
    if (incoming.method === 'GET')
      return answerWith(200, {
        'message-storage-policy': channels.find(bundle, id!)!.storage,
        'push-type': 'LiveActivity'
      })
    channels.remove(bundle, id!)
    return answerWith(204)
  }

  function create(bundle: string): Answer {
    const body = jsonObject(incoming.body.toString())
    if (!isObject(body)) return refusal({ reason: 'BadRequestPayload', detail: 'The body is not a JSON object.' })
    const { 'push-type': type, 'message-storage-policy': storage } = body
    if (type === undefined) return refusal({ reason: 'MissingPushType', detail: 'push-type is LiveActivity.' })
    if (String(type).toLowerCase() !== 'liveactivity')
      return refusal({ reason: 'InvalidPushType', detail: 'push-type is LiveActivity.' })
    if (storage !== 0 && storage !== 1)
      return refusal({ reason: 'BadRequestParams', detail: 'message-storage-policy is 0 or 1.' })
    const id = channels.create(bundle, { storage })
    if (id === undefined)
      return refusal({ reason: 'CannotCreateChannelConfig', detail: 'An app can have 10,000 channels.' })
    return answerWith(201, undefined, { 'apns-channel-id': id })
  }

  function answerWith(status: number, body?: object, headers: Record<string, string> = {}): Answer {
    return {
      status,
      headers: { 'apns-request-id': requestIdFor(incoming), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      reason: null,
      gatewayMessageId: null
    }
  }

  function refusal({ reason, detail }: ApnsRefusal): Answer {
    return { ...answerWith(statusOf(reason), { reason }), reason, ...(detail && { detail }) }
  }
}
