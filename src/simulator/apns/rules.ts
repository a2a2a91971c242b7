import { isObject } from '../../platform/fields.ts'
import type { Incoming } from '../server/gateway.ts'
import type { ApnsRefusal } from './reasons.ts'

/** Push types, each with the suffix of its topic. */
export const pushTypes = new Map([
  ['alert', ''],
  ['background', ''],
  ['location', '.location-query'],
  ['voip', '.voip'],
  ['complication', '.complication'],
  ['fileprovider', '.pushkit.fileprovider'],
  ['mdm', ''],
  ['liveactivity', '.push-type.liveactivity'],
  ['pushtotalk', '.voip-ptt'],
  ['widgets', '.push-type.widgets'],
  ['controls', '.push-type.controls']
])

export const payloadLimit = (pushType: string | undefined, toChannel = false) =>
  pushType === 'voip' || toChannel ? 5_120 : 4_096

export function checkTopic(
  headers: Incoming['headers'],
  allowed: readonly string[] | undefined
): ApnsRefusal | undefined {
  const topic = headers['apns-topic']
  if (!topic) return { reason: 'MissingTopic' }
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(topic)) return { reason: 'BadTopic', detail: 'The topic is not a bundle id.' }
  const suffix = pushTypes.get(headers['apns-push-type'] ?? 'alert') ?? ''
  if (!topic.endsWith(suffix) || topic === suffix)
    return { reason: 'BadTopic', detail: `The topic of this push type ends with ${suffix}.` }
  const bundle = topic.slice(0, topic.length - suffix.length)
  return allowed && !allowed.includes(bundle)
    ? { reason: 'TopicDisallowed', detail: `The topic is not one of the bundle ids.` }
    : undefined
}

export function checkPayload(
  headers: Incoming['headers'],
  payload: Record<string, unknown> | undefined
): ApnsRefusal | undefined {
  if (!payload) return bad('The payload is not a JSON object.')
  const { aps } = payload
  // VoIP, location and MDM payloads are the app's own.
  const type = headers['apns-push-type'] ?? 'alert'
  if (aps === undefined && !['alert', 'background', 'liveactivity'].includes(type)) return undefined
  if (!isObject(aps)) return { reason: 'PayloadEmpty', detail: 'The payload has no aps object.' }
  if (type === 'liveactivity') return checkActivity(aps)
  if (type === 'background' && aps['content-available'] !== 1) return bad('aps.content-available must be 1.')
  return undefined
}

const bad = (detail: string): ApnsRefusal => ({ reason: 'BadRequestPayload', detail })

/**
 * Apple accepts some of these with 200, and the device drops them silently. The simulator refuses them, so that
 * developers notice.
 */
function checkActivity(aps: Record<string, unknown>): ApnsRefusal | undefined {
  const { event, timestamp } = aps
  if (event !== 'start' && event !== 'update' && event !== 'end') return bad('aps.event is start, update or end.')
  if (!Number.isInteger(timestamp)) return bad('aps.timestamp is in whole seconds since 1970.')
  if ((timestamp as number) > 1e11) return bad('aps.timestamp is in seconds, not milliseconds.')
  if (event !== 'end' && !isObject(aps['content-state'])) return bad('aps.content-state must be an object.')
  if (event === 'start') {
    if (typeof aps['attributes-type'] !== 'string' || aps['attributes-type'] === '')
      return bad('aps.attributes-type is missing.')
    if (!isObject(aps.attributes)) return bad('aps.attributes must be an object.')
    if (!isObject(aps.alert) || (!text(aps.alert.title) && !text(aps.alert.body)))
      return bad('aps.alert with a title or a body is needed to start.')
  }
  for (const name of ['stale-date', 'dismissal-date'])
    if (aps[name] !== undefined && typeof aps[name] !== 'number') return bad(`aps.${name} is a number of seconds.`)
  if (aps['dismissal-date'] !== undefined && event !== 'end') return bad('aps.dismissal-date belongs to end.')
  if (aps['relevance-score'] !== undefined && typeof aps['relevance-score'] !== 'number')
    return bad('aps.relevance-score is a number.')
  return undefined
}

/** A localised text is an object with a key. */
const text = (value: unknown) => (typeof value === 'string' && value !== '') || isObject(value)
