import type { Static } from '@sinclair/typebox'
import { checkDeviceId } from '../devices/devices.ts'
import { checkJson, longerThan, refusing } from '../platform/fields.ts'
import { idOf } from '../platform/ids.ts'
import { isStorable } from '../platform/json/storable.ts'
import { readTime, timeRule } from '../platform/time.ts'
import type { SentEvent } from './schemas.ts'

/** The facts of an event, without its user. */
export interface EventFacts {
  /** Set if the same event may arrive again: it is stored once. */
  id?: string
  /** The id that the caller gave the event: a second event with this id within 7 days is not stored. */
  callerId?: string
  name: string
  at: Date
  messageId: string | null
  /** source_type, the caller's id of the event and the ids of a journey, as far as they were sent. */
  details: Record<string, string>
  properties: Record<string, unknown>
}

export interface EventInput extends EventFacts {
  deviceId: string
}

const maxNameLength = 256
const maxIdLength = 128
const customBounds = { levels: 16, bytes: 64 * 1024 }
const dayMs = 24 * 3_600_000
/** A phone may be offline for a holiday; an older event more likely comes from a wrong clock. */
const pastMs = 7 * dayMs

const refuse = refusing('invalid_event')

export function readEvent(sent: Static<typeof SentEvent>, path: string, now: Date): EventInput {
  const deviceId = checkDeviceId(sent.device_id, `${path}.device_id`)
  return { deviceId, ...readFacts(sent, path, now) }
}

/** A command. Its refusals name its fields as they stand here. Exactly one id names the user of the event. */
export type TrackEvent = {
  eventName: string
  properties: Record<string, unknown>
  /** The run that tracks the event. If the same run tracks it again, the event is stored once. */
  run: { id: string; at: Date }
} & ({ deviceId: string } | { projectUserId: string } | { userId: string })

/** The facts of an event that arrives in another protocol. `id`: the caller's own, by which a repeat is noticed. */
export function checkFacts({
  name,
  at,
  arrivedAt,
  id,
  properties
}: {
  name: string
  at: Date
  arrivedAt: Date
  id?: string
  properties: Record<string, unknown>
}): EventFacts {
  if (id !== undefined && longerThan(id, maxIdLength))
    throw refuse('messageId', `must be at most ${maxIdLength} characters`)
  return {
    ...(id !== undefined && { callerId: id }),
    name: checkName(name, 'event'),
    at: plausible(at, arrivedAt),
    messageId: null,
    details: id === undefined ? {} : { event_id: id },
    properties: checkCustom(properties, 'properties')
  }
}

/** The facts of a command's event. */
export function checkTrackEvent({ eventName, properties, run }: TrackEvent): EventFacts {
  return {
    id: idOf(run.id),
    name: checkName(eventName, 'eventName'),
    at: run.at,
    messageId: null,
    details: {},
    properties: checkCustom(properties, 'properties')
  }
}

function checkName(name: string, path: string): string {
  if (longerThan(name, maxNameLength)) throw refuse(path, `must be at most ${maxNameLength} characters`)
  if (/\p{Cc}/u.test(name) || !isStorable(name)) throw refuse(path, 'must not hold control characters')
  return name
}

/** Reads all fields except those that name the user. */
function readFacts(sent: Omit<Static<typeof SentEvent>, 'device_id'>, path: string, now: Date): EventFacts {
  const name = checkName(sent.name, `${path}.name`)
  const given = sent.event_property ?? sent.properties ?? {}
  const properties = customOf(sent, path)
  const details: Record<string, string> = {}
  const { user_journey_id, user_journey_node_id } = given
  for (const [key, value] of Object.entries({ user_journey_id, user_journey_node_id, source_type: sent.source_type }))
    if (typeof value === 'string') details[key] = value
  const callerId = sent.id ?? undefined
  if (callerId !== undefined) details.event_id = callerId
  return {
    ...(callerId !== undefined && { callerId }),
    name,
    at: timeOf(sent.at, `${path}.at`, now),
    messageId: given.message_id ?? null,
    details,
    properties
  }
}

/** Many SDKs put the app's own fields beside `custom_properties`, or in the other of the two objects; they must not be lost. */
function customOf(
  { event_property: own, properties: other }: Omit<Static<typeof SentEvent>, 'device_id'>,
  path: string
): Record<string, unknown> {
  const place = `${path}.${own ? 'event_property' : 'properties'}`
  const inner = (own ?? other)?.custom_properties ? `${place}.custom_properties` : place
  return checkCustom({ ...everyName(other), ...everyName(own) }, inner)
}

function everyName(sent: Static<typeof SentEvent>['properties']): Record<string, unknown> {
  const { message_id, user_journey_id, user_journey_node_id, custom_properties, ...flat } = sent ?? {}
  return { ...flat, ...custom_properties }
}

function checkCustom(properties: Record<string, unknown>, path: string): Record<string, unknown> {
  checkJson(properties, customBounds, (message) => refuse(path, message))
  return properties
}

function timeOf(text: string | null | undefined, path: string, now: Date): Date {
  if (text === undefined || text === null) return now
  const at = readTime(text)
  if (!at) throw refuse(path, timeRule)
  return plausible(at, now)
}

/** An event with a wrong clock must neither be lost nor stored in a wrong month: it gets the time of arrival. */
const plausible = (at: Date, now: Date): Date => (at > now || now.getTime() - at.getTime() > pastMs ? now : at)

/** The stored event, under both names that SDKs read. */
export function wireEvent(event: EventFacts & { deviceId: string | null }, userId: string) {
  const { user_journey_id, user_journey_node_id } = event.details
  const property = {
    message_id: event.messageId,
    ...(user_journey_id !== undefined && { user_journey_id }),
    ...(user_journey_node_id !== undefined && { user_journey_node_id }),
    custom_properties: event.properties
  }
  return {
    ...(event.callerId !== undefined && { id: event.callerId }),
    user_id: userId,
    device_id: event.deviceId,
    name: event.name,
    event_property: property,
    properties: property,
    at: event.at
  }
}
