import { type Devices, readDevice, type SentDevice } from '../devices/devices.ts'
import type { Events, OwnedEvent } from '../events/events.ts'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { identity, type Users } from '../users/users.ts'
import { type Arrival, type Kind, type Message, readMessage } from './message.ts'

export type Intake = ReturnType<typeof createIntake>

/** The messages of one request, and what the caller may do. */
export interface Delivery {
  messages: unknown[]
  /** The kind of all of them, if the path names it. */
  kind?: Kind | undefined
  arrival: Arrival
  /**
   * The user that the caller proved to act for. Null: no proof is needed. Undefined: one is needed and none was given, so
   * that only messages of anonymous users count.
   */
  proven: string | null | undefined
}

/** Why a message, or a trait of one, was not stored. */
export interface Dropped {
  index: number
  reason: string
}

/** Stores what analytics SDKs send as users, devices and events (docs/guides/intake.md). */
export function createIntake({
  pool,
  users,
  devices,
  events,
  metrics
}: {
  pool: Pool
  users: Users
  devices: Devices
  events: Events
  metrics: Pick<Metrics, 'counter'>
}) {
  const counts = { stored: 0, dropped: 0 }
  metrics.counter('tidings_intake_messages_total', 'Messages of analytics SDKs, stored or dropped.', () =>
    Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value }))
  )

  /**
   * Devices of named users whom the caller did not prove to be. An anonymous message with the id of such a device could
   * give it the push token of another phone.
   */
  async function devicesOfOthers(projectId: ProjectId, messages: Message[], proven: string | null | undefined) {
    if (proven === null) return new Set<string>()
    const owners = await devices.ownersOf(projectId, [...new Set(messages.flatMap(({ device }) => device?.id ?? []))])
    const names = await identity.namesOf(pool, projectId, [...new Set(owners.values())])
    const others = [...owners].filter(([, owner]) => ![null, undefined, proven].includes(names.get(owner)))
    return new Set(others.map(([id]) => id))
  }

  /** Registers devices; of several messages with one device, later facts win. Returns the user of each device. */
  async function putDevices(projectId: ProjectId, messages: Message[], proven: string | null | undefined) {
    const others = await devicesOfOthers(projectId, messages, proven)
    const sent = new Map<string, SentDevice & { id: string }>()
    // A message that names a user is proven, and logs this user in on the device.
    for (const { device, user } of messages)
      if (device && (user !== undefined || !others.has(device.id)))
        sent.set(device.id, { ...sent.get(device.id), ...device })
    if (sent.size === 0) return new Map<string, string>()
    const known = await devices.platformsFor(projectId, [...sent.values()])
    const read = [...sent.values()].map((one) => readDevice(one, 'device', undefined, known.get(one.id) ?? 'WEB'))
    return new Map((await devices.put(projectId, read)).map(({ id, user_id }) => [id, user_id]))
  }

  /** Logs users in on the devices that their messages come from, in the order of the messages. */
  async function linkAll(projectId: ProjectId, messages: Message[], userOf: Map<string, string>): Promise<void> {
    const names = [...new Set(messages.flatMap(({ user, device }) => (user !== undefined && device ? user : [])))]
    const ids = await identity.idsOf(pool, projectId, names)
    const now = new Map<string, string>()
    for (const { user, device } of messages) {
      if (user === undefined || !device || now.get(device.id) === user) continue
      const linked = !now.has(device.id) && ids.get(user) === userOf.get(device.id)
      now.set(device.id, user)
      if (!linked) await devices.link(projectId, device.id, user)
    }
  }

  /** Only an anonymous user is merged: a named one keeps its own history. */
  async function takeOver(projectId: ProjectId, { previous, user }: Message): Promise<void> {
    const device = await devices.get(projectId, previous!).catch(ifRefused)
    const name = device && (await identity.namesOf(pool, projectId, [device.user_id])).get(device.user_id)
    if (name === null) await devices.link(projectId, previous!, user!)
    else if (name !== user) throw new Refusal('conflict', 'previousId: names no anonymous user')
  }

  async function setTraits(projectId: ProjectId, { user, device, traits }: Message): Promise<void> {
    const properties = traits!.properties
    if (user !== undefined) await users.put(projectId, user, properties)
    else if (Object.keys(properties).length > 0) await devices.setProperties(projectId, device!.id, properties)
  }

  /** The users of events exist before the events do. */
  async function ensureUsers(projectId: ProjectId, messages: Message[]): Promise<void> {
    const names = new Set(messages.flatMap(({ user, event }) => (user !== undefined && event ? user : [])))
    const known = await identity.idsOf(pool, projectId, [...names])
    await Promise.all([...names].filter((name) => !known.has(name)).map((name) => users.put(projectId, name)))
  }

  return {
    /** Stores the messages that can be stored, and returns why the others cannot. */
    async take(projectId: ProjectId, { messages: sent, kind, arrival, proven }: Delivery): Promise<Dropped[]> {
      const dropped: Dropped[] = []
      const attempt = async <Result>(index: number, work: () => Result | Promise<Result>) => {
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          dropped.push({ index, reason: error.message })
        }
      }
      const read = new Map<number, Message>()
      for (const [index, one] of sent.entries()) {
        const message = await attempt(index, () => checkProof(readMessage(one, arrival, kind), proven))
        if (message) read.set(index, message)
      }
      const messages = [...read.values()]
      await linkAll(projectId, messages, await putDevices(projectId, messages, proven))
      for (const [index, message] of read) {
        if (message.previous !== undefined) await attempt(index, () => takeOver(projectId, message))
        if (!message.traits) continue
        await attempt(index, () => setTraits(projectId, message))
        for (const name of message.traits.left)
          dropped.push({ index, reason: `traits: ${name} is no text, number, boolean or null` })
      }
      await ensureUsers(projectId, messages)
      const owned = [...read].flatMap(([index, message]) => ownedEvent(message).map((event) => ({ index, event })))
      const sentEvents = owned.map(({ event }) => event)
      for (const place of await events.recordOwned(projectId, sentEvents, proven))
        dropped.push({ index: owned[place]!.index, reason: unprovenBy(proven).message })
      const lost = new Set(dropped.map(({ index }) => index)).size
      counts.dropped += lost
      counts.stored += sent.length - lost
      return dropped
    }
  }
}

const ownedEvent = ({ user, device, event }: Message): OwnedEvent[] =>
  event ? [{ ...event, projectUserId: user, deviceId: device?.id ?? null }] : []

/** In a project that verifies identities, a message must belong to the user whose token came with it. */
function checkProof(message: Message, proven: string | null | undefined): Message {
  if (proven === null || (message.user === undefined && !message.traits)) return message
  if (message.user !== undefined && message.user === proven) return message
  throw unprovenBy(proven)
}

function unprovenBy(proven: string | null | undefined): Refusal {
  const reason = proven === undefined ? 'must be given' : 'belongs to another user'
  return new Refusal('user_token_mismatch', `X-Service-User-Token: ${reason}: this project verifies identities`)
}

function ifRefused(error: unknown): undefined {
  if (!(error instanceof Refusal)) throw error
}
