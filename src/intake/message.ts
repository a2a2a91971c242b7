import type { SentDevice } from '../devices/devices.ts'
import { checkDeviceId, readDevice } from '../devices/devices.ts'
import type { EventFacts } from '../events/events.ts'
import { checkFacts } from '../events/events.ts'
import { Refusal } from '../platform/errors.ts'
import { type Fields, isObject } from '../platform/fields.ts'
import { readTime } from '../platform/time.ts'
import { checkProjectUserId } from '../users/users.ts'
import { deviceOf } from './device.ts'
import { type Flat, flatten } from './traits.ts'

/** One message of an analytics SDK, as far as Tidings has a place for it. */
export interface Message {
  /** The project's own id of the user. Absent: the user is anonymous, or known by the device alone. */
  user?: string
  device?: SentDevice & { id: string }
  /** Properties that the message sets. */
  traits?: Flat
  event?: EventFacts
  /** The anonymous id whose history the user takes over. */
  previous?: string
}

/** When the request was sent by the clock of the phone, and when it arrived by ours. */
export interface Arrival {
  sentAt: Date | undefined
  at: Date
}

export const kinds = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const
export type Kind = (typeof kinds)[number]
const isKind = (kind: unknown): kind is Kind => kinds.includes(kind as Kind)

/** Reads one message. Throws a refusal with the reason if nothing of it can be stored. */
export function readMessage(sent: unknown, { sentAt, at }: Arrival, kind?: Kind): Message {
  if (!isObject(sent)) throw refuse('must be an object')
  const type = kind ?? sent.type
  if (!isKind(type)) throw refuse(`type: must be one of ${kinds.join(', ')}`)
  const context = isObject(sent.context) ? sent.context : {}
  const user = idIn(sent.userId)
  const device = deviceOf(idIn(sent.anonymousId), context)
  if (user === undefined && device === undefined) throw refuse('userId or anonymousId: must be given')
  const message: Message = {
    ...(user !== undefined && { user: checkProjectUserId(user, 'userId') }),
    ...(device && { device: checked(device) })
  }
  return { ...message, ...contentOf(type, sent, { sentAt: timeIn(sent.sentAt) ?? sentAt, at }) }
}

function contentOf(type: Kind, sent: Fields, arrival: Arrival): Message {
  if (type === 'identify') return { traits: flatten(objectIn(sent.traits)) }
  if (type === 'group') return { traits: flatten({ id: sent.groupId, ...objectIn(sent.traits) }, 'group_') }
  if (type === 'alias') {
    const previous = idIn(sent.previousId)
    if (previous === undefined || idIn(sent.userId) === undefined)
      throw refuse('previousId and userId: must be given for an alias')
    return { previous: checkDeviceId(previous, 'previousId') }
  }
  return { event: eventOf(type, sent, arrival) }
}

function eventOf(type: 'track' | 'page' | 'screen', sent: Fields, arrival: Arrival): EventFacts {
  const named = type === 'track' ? {} : { name: sent.name, category: sent.category }
  const given = Object.entries(named).filter(([, value]) => typeof value === 'string' && value !== '')
  if (type === 'track' && (typeof sent.event !== 'string' || sent.event === ''))
    throw refuse('event: must be a text for a track')
  const id = idIn(sent.messageId)
  return checkFacts({
    name: type === 'track' ? (sent.event as string) : type,
    at: happenedAt(sent, arrival),
    arrivedAt: arrival.at,
    properties: { ...objectIn(sent.properties), ...Object.fromEntries(given) },
    ...(id !== undefined && { id })
  })
}

/**
 * The time of the message by our clock. The clock of the phone may be wrong, but the time between the message and its
 * request is right on it.
 */
function happenedAt(sent: Fields, { sentAt, at }: Arrival): Date {
  const original = timeIn(sent.originalTimestamp) ?? timeIn(sent.timestamp)
  if (!original) return at
  return sentAt ? new Date(at.getTime() - (sentAt.getTime() - original.getTime())) : original
}

export const timeIn = (value: unknown): Date | undefined => (typeof value === 'string' ? readTime(value) : undefined)

/** Some apps send numbers as ids; an empty text counts as absent. */
function idIn(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const objectIn = (value: unknown): Fields => (isObject(value) ? value : {})

/** The device as it is stored. A token that cannot be one is left out: the rest of the message is still true. */
function checked(device: SentDevice & { id: string }): SentDevice & { id: string } {
  checkDeviceId(device.id, 'anonymousId')
  try {
    readDevice(device, 'context.device', undefined, 'WEB')
    return device
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { push_token, push_token_type, ...rest } = device
    return rest
  }
}

const refuse = (text: string) => new Refusal('malformed_body', text)
