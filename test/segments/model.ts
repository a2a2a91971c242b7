/**
 * A second implementation of the segment language, evaluated in memory, one user and one device at a time. It is
 * written from the rules of docs/reference/segments.md and shares no code with the compiler: if the two differ, one
 * of them is wrong.
 */
export interface ModelUser {
  id: string
  projectUserId: string | null
  properties: Record<string, unknown>
  createdAt: Date
  lastSeenAt: Date | null
}
export interface ModelDevice {
  id: string
  userId: string
  platform: string
  facts: Record<string, string>
}
export interface ModelEvent {
  userId: string
  name: string
  at: Date
  properties: Record<string, unknown>
}
export interface World {
  users: ModelUser[]
  devices: ModelDevice[]
  events: ModelEvent[]
}
type Json = Record<string, unknown>
interface Asking {
  user: ModelUser
  device: ModelDevice | undefined
  events: ModelEvent[]
  trigger: Json
  now: Date
}

class MissingTriggerProperty extends Error {}

/** Ids of the users that match, or of the devices if the segment has conditions on devices. */
export function matching(segment: Json, trigger: Json, now: Date, world: World): string[] {
  const ofUser = (user: ModelUser) => world.events.filter((event) => event.userId === user.id)
  try {
    if (!usesDevice(segment))
      return world.users
        .filter((user) => holds(segment, { user, device: undefined, events: ofUser(user), trigger, now }))
        .map(({ id }) => id)
    return world.devices
      .filter((device) => {
        const user = world.users.find(({ id }) => id === device.userId)!
        return holds(segment, { user, device, events: ofUser(user), trigger, now })
      })
      .map(({ id }) => id)
  } catch (error) {
    if (error instanceof MissingTriggerProperty) return []
    throw error
  }
}

export const usesDevice = (segment: Json): boolean =>
  ((segment.all ?? segment.any) ? ((segment.all ?? segment.any) as Json[]).some(usesDevice) : false) ||
  (segment.not !== undefined && usesDevice(segment.not as Json)) ||
  String(segment.attribute ?? '').startsWith('device.')

// Every part is evaluated, so that a missing trigger property is found wherever it stands.
function holds(segment: Json, asking: Asking): boolean {
  if (segment.all) return (segment.all as Json[]).map((part) => holds(part, asking)).every(Boolean)
  if (segment.any) return (segment.any as Json[]).map((part) => holds(part, asking)).some(Boolean)
  if (segment.not) return !holds(segment.not as Json, asking)
  if (segment.event !== undefined) return eventHolds(segment, asking)
  return attributeHolds(segment, stored(segment.attribute as string, asking), asking)
}

interface Stored {
  value: unknown // undefined: missing
  kind: 'property' | 'text' | 'version' | 'time'
}

function stored(attribute: string, { user, device }: Asking): Stored {
  if (attribute === 'user.id') return { kind: 'text', value: user.projectUserId ?? undefined }
  if (attribute === 'user.created_at') return { kind: 'time', value: user.createdAt }
  if (attribute === 'user.last_seen_at') return { kind: 'time', value: user.lastSeenAt ?? undefined }
  if (attribute === 'device.platform') return { kind: 'text', value: device!.platform }
  if (attribute === 'device.locale') return { kind: 'text', value: device!.facts.locale_region }
  if (attribute === 'device.language') return { kind: 'text', value: device!.facts.locale_language }
  if (attribute === 'device.timezone') return { kind: 'text', value: device!.facts.timezone }
  if (attribute === 'device.app_version') return { kind: 'version', value: device!.facts.app_version }
  if (attribute === 'device.os_version') return { kind: 'version', value: device!.facts.os_version }
  return property(user.properties, attribute, 'user.')
}

function property(properties: Json, attribute: string, owner: string): Stored {
  const always = `${owner}properties.`
  const name = attribute.startsWith(always) ? attribute.slice(always.length) : attribute.slice(owner.length)
  return { kind: 'property', value: Object.hasOwn(properties, name) ? properties[name] : undefined }
}

function eventHolds(segment: Json, asking: Asking): boolean {
  const from = segment.within === undefined ? -Infinity : asking.now.getTime() - duration(segment.within as string)!
  const where = (segment.where ?? []) as Json[]
  for (const condition of where) wantedOf(condition, asking.trigger)
  const count = asking.events.filter(
    (event) =>
      event.name === segment.event &&
      event.at.getTime() >= from &&
      event.at <= asking.now &&
      where.every((part) =>
        attributeHolds(part, property(event.properties, part.attribute as string, 'event.'), asking)
      )
  ).length
  const wanted = segment.count as number
  if (segment.operator === 'at_least') return count >= wanted
  return segment.operator === 'at_most' ? count <= wanted : count === wanted
}

function attributeHolds(condition: Json, { value, kind }: Stored, { trigger, now }: Asking): boolean {
  const operator = condition.operator as string
  if (operator === 'exists') return value !== undefined
  if (operator === 'not_exists') return value === undefined
  const wanted = wantedOf(condition, trigger)
  const list = Array.isArray(wanted) ? wanted : undefined
  switch (operator) {
    case 'equals':
      return same(value, wanted, kind)
    case 'in':
      return list?.some((item) => same(value, item, kind)) ?? false
    case 'not_equals':
      return differs(value, [wanted], kind)
    case 'not_in':
      return list ? differs(value, list, kind) : value === undefined || value === null
    case 'greater_than':
    case 'greater_or_equal':
    case 'less_than':
    case 'less_or_equal': {
      const sign = order(value, wanted, kind)
      if (sign === undefined) return false
      if (sign === 0) return operator.endsWith('or_equal')
      return sign > 0 ? operator.startsWith('greater') : operator.startsWith('less')
    }
    case 'before':
    case 'after': {
      const [is, at] = [instant(value), instant(wanted)]
      if (is === undefined || at === undefined) return false
      return operator === 'before' ? is < at : is > at
    }
    case 'within_last': {
      const [is, length] = [instant(value), duration(wanted)]
      if (is === undefined || length === undefined) return false
      const end = BigInt(now.getTime()) * 1000n
      return is <= end && is >= end - BigInt(length) * 1000n
    }
    case 'not_contains':
      if (value === undefined || value === null) return true
      return typeof value === 'string' && typeof wanted === 'string' && !value.includes(wanted)
  }
  if (typeof value !== 'string' || typeof wanted !== 'string') return false
  if (operator === 'contains') return value.includes(wanted)
  if (operator === 'starts_with') return value.startsWith(wanted)
  if (operator === 'ends_with') return value.endsWith(wanted)
  if (operator === 'matches') return new RegExp(patternOf(condition.value as string, trigger), 'su').test(value)
  throw new Error(`the model does not know ${operator}`)
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

function same(value: unknown, wanted: unknown, kind: Stored['kind']): boolean {
  if (value === undefined) return false
  if (kind === 'time') {
    const at = instant(wanted)
    return at !== undefined && instant(value) === at
  }
  if (typeOf(value) !== typeOf(wanted) || typeof value === 'object') return value === null && wanted === null
  return value === wanted || (kind === 'version' && order(value, wanted, kind) === 0)
}

function differs(value: unknown, wanted: unknown[], kind: Stored['kind']): boolean {
  if (wanted.some((item) => same(value, item, kind))) return false
  if (value === undefined || value === null || wanted.length === 0 || wanted.includes(null)) return true
  if (kind === 'time') return wanted.some((item) => instant(item) !== undefined)
  const comparable = wanted.filter((item) => typeof item !== 'object')
  return comparable.some((item) => typeOf(item) === typeOf(value))
}

/** Negative, zero or positive; undefined when the two have no order. */
function order(value: unknown, wanted: unknown, kind: Stored['kind']): number | undefined {
  if (kind === 'time') {
    const [is, at] = [instant(value), instant(wanted)]
    return is === undefined || at === undefined ? undefined : Number(is - at)
  }
  if (kind === 'version') {
    const [is, than] = [version(value), version(wanted)]
    return is && than ? versionOrder(is, than) : undefined
  }
  if (typeof value === 'number' && typeof wanted === 'number') return value === wanted ? 0 : value < wanted ? -1 : 1
  if (typeof value !== 'string' || typeof wanted !== 'string') return undefined
  const [a, b] = [[...value], [...wanted]].map((text) => text.map((sign) => sign.codePointAt(0)!)) as [
    number[],
    number[]
  ]
  for (const [index, point] of a.entries()) {
    if (index >= b.length) return 1
    if (point !== b[index]) return point - b[index]!
  }
  return a.length - b.length
}

interface Version {
  numbers: bigint[]
  pre: string[] | undefined
}

function version(text: unknown): Version | undefined {
  if (typeof text !== 'string') return undefined
  const [whole] = text.replace(/^v/, '').split('+') as [string]
  const dash = whole.indexOf('-')
  const numbers = (dash === -1 ? whole : whole.slice(0, dash)).split('.')
  const pre = dash === -1 ? undefined : whole.slice(dash + 1).split('.')
  if (numbers.length > 6 || numbers.some((part) => !/^\d{1,18}$/.test(part))) return undefined
  if (pre?.some((part) => !/^[0-9A-Za-z-]+$/.test(part))) return undefined
  return { numbers: numbers.map(BigInt), pre }
}

function versionOrder(a: Version, b: Version): number {
  for (let index = 0; index < 6; index++) {
    const difference = (a.numbers[index] ?? 0n) - (b.numbers[index] ?? 0n)
    if (difference !== 0n) return difference < 0n ? -1 : 1
  }
  if (!a.pre || !b.pre) return a.pre ? -1 : b.pre ? 1 : 0
  for (const [index, one] of a.pre.entries()) {
    const other = b.pre[index]
    if (other === undefined) return 1
    const [isNumber, otherIsNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
    if (isNumber !== otherIsNumber) return isNumber ? -1 : 1
    if (isNumber && BigInt(one) !== BigInt(other)) return BigInt(one) < BigInt(other) ? -1 : 1
    if (!isNumber && one !== other) return one < other ? -1 : 1
  }
  return a.pre.length - b.pre.length
}

/** Microseconds since 1970. */
function instant(value: unknown): bigint | undefined {
  if (value instanceof Date) return BigInt(value.getTime()) * 1000n
  if (typeof value !== 'string') return undefined
  const found = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|([+-])(\d\d):?(\d\d)?)?)?$/.exec(
    value
  )
  if (!found) return undefined
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((place) => Number(found[place] ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number
  ]
  if (year === 0 || hour > 23 || minute > 59 || second > 59 || found[8]?.endsWith(':')) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const [zoneHours, zoneMinutes] = [Number(found[10] ?? 0), Number(found[11] ?? 0)]
  if (zoneHours > 14 || zoneMinutes > 59) return undefined
  const zone = (found[9] === '-' ? -1 : 1) * (zoneHours * 60 + zoneMinutes)
  const seconds = date.getTime() / 1000 + hour * 3600 + (minute - zone) * 60 + second
  return BigInt(seconds) * 1_000_000n + BigInt((found[7] ?? '').padEnd(6, '0').slice(0, 6))
}

function duration(value: unknown): number | undefined {
  const found = /^([1-9]\d{0,8})([smhdw])$/.exec(typeof value === 'string' ? value : '')
  if (!found) return undefined
  const seconds = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 }[found[2] as 's' | 'm' | 'h' | 'd' | 'w']
  const days = (Number(found[1]) * seconds) / 86400
  return days > 3660 ? undefined : Number(found[1]) * seconds * 1000
}

function lookUp(path: string, trigger: Json): unknown {
  let value: unknown = trigger
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) throw new MissingTriggerProperty()
    value = (value as Json)[step]
  }
  return value
}

const inText = (value: unknown) =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

function wantedOf({ value }: Json, trigger: Json): unknown {
  const one = (text: unknown): unknown => {
    if (typeof text !== 'string') return text
    const exactly = /^\{\{ trigger\.([\w.]+) \}\}$/.exec(text)
    if (exactly) return lookUp(exactly[1]!, trigger)
    return text.replace(/\{\{ trigger\.([\w.]+) \}\}/g, (_, path: string) => inText(lookUp(path, trigger)))
  }
  return Array.isArray(value) ? value.map(one) : one(value)
}

/** Text of the trigger in a pattern is matched literally. */
const patternOf = (written: string, trigger: Json) =>
  written.replace(/\{\{ trigger\.([\w.]+) \}\}/g, (_, path: string) =>
    inText(lookUp(path, trigger)).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  )
