import { randomBytes, randomUUID } from 'node:crypto'
import { isObject } from '../../platform/fields.ts'
import { isUuid } from '../../platform/ids.ts'
import { jsonObject } from '../jwt.ts'
import { type Answer, decoded, type Incoming, type Judgement } from '../server/gateway.ts'
import { nothing } from '../server/reading.ts'
import { type ApnsRefusal, statusOf } from './reasons.ts'

/** The channels of one environment. A broadcast to a channel reaches every Live Activity that subscribed to it. */
export interface Channels {
  find(bundle: string, id: string): Promise<Channel | undefined>
  /** Undefined if the app has the most channels that Apple allows. */
  create(bundle: string, channel: Channel): Promise<string | undefined>
  remove(bundle: string, id: string): Promise<void>
  list(bundle: string): Promise<string[]>
}

export interface Channel {
  /** 1: the newest push is stored for devices that are offline. */
  storage: 0 | 1
}

export const mostChannels = 10_000

export const newChannelId = () => randomBytes(16).toString('base64')

/** Channels in memory, for a simulator that runs by itself. */
export function createChannels(): Channels {
  const apps = new Map<string, Map<string, Channel>>()
  const of = (bundle: string) => apps.get(bundle) ?? new Map<string, Channel>()
  return {
    find: async (bundle, id) => of(bundle).get(id),
    async create(bundle, channel) {
      const known = of(bundle)
      if (known.size >= mostChannels) return undefined
      const id = newChannelId()
      apps.set(bundle, known.set(id, channel))
      return id
    },
    remove: async (bundle, id) => void of(bundle).delete(id),
    list: async (bundle) => [...of(bundle).keys()]
  }
}

/** Apple returns the id of the request, else a new one. */
export function requestIdFor({ headers }: Incoming): string {
  const given = headers['apns-request-id']
  return given && isUuid(given) ? given : randomUUID()
}

/** The channel that a request names, or why there is none. */
export async function findChannel(
  channels: Channels,
  bundle: string,
  id: string | undefined
): Promise<(Channel & { id: string }) | ApnsRefusal> {
  if (!id) return { reason: 'MissingChannelId', detail: 'The header apns-channel-id names the channel.' }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(id)) return { reason: 'BadChannelId', detail: 'A channel id is base64.' }
  const found = await channels.find(bundle, id)
  return found ? { ...found, id } : { reason: 'ChannelNotRegistered' }
}

/** The host that creates, shows and deletes channels. Its requests are no pushes, so the ledger has none of them. */
export async function judgeChannels(
  incoming: Incoming,
  channels: Channels,
  checkCaller: (incoming: Incoming, bundle: string) => ApnsRefusal | undefined
): Promise<Judgement> {
  const [, part, what] = /^\/1\/apps\/([^/?]+)\/(channels|all-channels)$/.exec(incoming.path) ?? []
  const bundle = part && decoded(part)
  const answer = bundle ? await manage(bundle, what!) : refusal({ reason: 'BadPath' })
  return { answer, token: null, payload: null, push: nothing, listed: false }

  async function manage(bundle: string, what: string): Promise<Answer> {
    const refused = checkCaller(incoming, bundle)
    if (refused) return refusal(refused)
    if (what === 'all-channels')
      return incoming.method === 'GET'
        ? answerWith(200, { channels: await channels.list(bundle) })
        : refusal({ reason: 'MethodNotAllowed' })
    if (incoming.method === 'POST') return create(bundle)
    if (incoming.method !== 'GET' && incoming.method !== 'DELETE') return refusal({ reason: 'MethodNotAllowed' })
    const found = await findChannel(channels, bundle, incoming.headers['apns-channel-id'])
    if ('reason' in found) return refusal(found)
    if (incoming.method === 'GET')
      return answerWith(200, { 'message-storage-policy': found.storage, 'push-type': 'LiveActivity' })
    await channels.remove(bundle, found.id)
    return answerWith(204)
  }

  async function create(bundle: string): Promise<Answer> {
    const body = jsonObject(incoming.body.toString())
    if (!isObject(body)) return refusal({ reason: 'BadRequestPayload', detail: 'The body is not a JSON object.' })
    const { 'push-type': type, 'message-storage-policy': storage } = body
    if (type === undefined) return refusal({ reason: 'MissingPushType', detail: 'push-type is LiveActivity.' })
    if (String(type).toLowerCase() !== 'liveactivity')
      return refusal({ reason: 'InvalidPushType', detail: 'push-type is LiveActivity.' })
    if (storage !== 0 && storage !== 1)
      return refusal({ reason: 'BadRequestParams', detail: 'message-storage-policy is 0 or 1.' })
    const id = await channels.create(bundle, { storage })
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
