import { Refusal, type RefusalCode, readEach } from '../platform/errors.ts'
import { faultIn } from '../platform/json.ts'
import { readTime } from '../platform/time.ts'
import { checkChosenId, longerThan } from '../users/users.ts'

/** Who an item is for: exactly one of three. */
export type Target = { projectUserId: string } | { deviceId: string } | { userId: string }

/** Reads the fields of one item; every fault names its place, as in `push_notifications[3].title`. */
export type Reader = ReturnType<typeof readerOf>

const maxItems = 1_000
/** As long as the longest a gateway keeps anything. */
const maxTtlSeconds = 28 * 86_400
const maxDepth = 16
const maxBytes = 16 * 1024

/** The items of a body of `{ [name]: [...] }`, each with a reader of its own. */
export function readItems<Item>(
  body: unknown,
  name: string,
  code: RefusalCode,
  read: (reader: Reader) => Item
): Item[] {
  const refuse = (path: string, message: string) => new Refusal(code, `${path}: ${message}`, [{ path, message }])
  if (!isObject(body)) throw refuse('body', 'must be an object')
  const items = body[name]
  if (items === undefined) throw refuse(name, 'must be given')
  if (!Array.isArray(items)) throw refuse(name, 'must be an array')
  if (items.length === 0) throw refuse(name, 'must not be empty')
  if (items.length > maxItems) throw refuse(name, `must have at most ${maxItems} items`)
  return readEach(items, (item, index) => {
    const path = `${name}[${index}]`
    if (!isObject(item)) throw refuse(path, 'must be an object')
    return read(readerOf(item, path, (field, message) => refuse(field ? `${path}.${field}` : path, message)))
  })
}

/** Settled-2, 9: many clients write null for a field that they do not set. */
const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields that items of every channel have. */
export interface CommonItem {
  priority: 'high' | 'normal'
  /** Absent: the default of the channel. */
  ttlSeconds: number | undefined
}

export const commonOf = (reader: Reader): CommonItem => ({
  priority: reader.priority(),
  ttlSeconds: reader.ttlSeconds()
})

type Defined<Fields> = { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>
}

/** Drops absent fields, so that none is stored or sent. */
export const defined = <Fields extends object>(fields: Fields): Defined<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>

function readerOf(item: Record<string, unknown>, path: string, refuse: (field: string, message: string) => Refusal) {
  /** An empty text is as good as none. */
  function text(field: string, maxLength?: number): string | undefined {
    const value = item[field]
    if (isAbsent(value) || value === '') return undefined
    if (typeof value !== 'string') throw refuse(field, 'must be a string')
    if (maxLength !== undefined && longerThan(value, maxLength))
      throw refuse(field, `must be at most ${maxLength} characters`)
    return value
  }

  function whole(field: string, most: number): number | undefined {
    const value = item[field]
    if (isAbsent(value)) return undefined
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
    if (!fits) throw refuse(field, `must be a whole number from 0 to ${most}`)
    return value
  }

  /** Any JSON object, shallow and small enough for what follows. */
  function object(field: string): object {
    const root = item[field]
    if (root === undefined) throw refuse(field, 'must be given')
    if (!isObject(root)) throw refuse(field, 'must be an object')
    const fault = faultIn(root, maxDepth, false)
    if (fault === 'levels') throw refuse(field, `must have at most ${maxDepth} levels`)
    if (fault) throw refuse(field, 'a number is out of range')
    if (Buffer.byteLength(JSON.stringify(root)) > maxBytes) throw refuse(field, 'must be at most 16 KiB')
    return root
  }

  return {
    path,
    has: (field: string) => !isAbsent(item[field]),
    refuse,
    text,
    object,
    required(field: string, maxLength?: number): string {
      const value = text(field, maxLength)
      if (value === undefined) throw refuse(field, item[field] === '' ? 'must not be empty' : 'must be given')
      return value
    },
    whole,
    url(field: string, ...schemes: string[]): string | undefined {
      const value = text(field, 4_096)
      if (value === undefined) return undefined
      const parsed = URL.canParse(value) ? new URL(value) : undefined
      if (!parsed) throw refuse(field, 'must be an absolute address')
      if (schemes.length > 0 && !schemes.includes(parsed.protocol.slice(0, -1)))
        throw refuse(field, `must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`)
      return value
    },
    texts(field: string): Record<string, string> | undefined {
      const value = item[field]
      if (isAbsent(value)) return undefined
      if (!isObject(value)) throw refuse(field, 'must be an object')
      for (const [name, inner] of Object.entries(value))
        if (typeof inner !== 'string') throw refuse(`${field}.${name}`, 'must be a string')
      return value as Record<string, string>
    },
    /** Unix seconds, from a number of them or an RFC 3339 time. */
    seconds(field: string): number | undefined {
      const value = item[field]
      if (typeof value !== 'string') return whole(field, 253_402_300_799)
      const at = readTime(value)?.getTime()
      if (at === undefined || at < 0)
        throw refuse(field, 'must be Unix seconds or an RFC 3339 time, with Z or an offset')
      return Math.floor(at / 1000)
    },
    alert(): { title: string; body: string } | undefined {
      const value = item.alert
      if (isAbsent(value)) return undefined
      if (!isObject(value)) throw refuse('alert', 'must be an object')
      const { title, body } = value
      if (typeof title !== 'string' || title === '') throw refuse('alert.title', 'must be a string that is not empty')
      if (typeof body !== 'string' || body === '') throw refuse('alert.body', 'must be a string that is not empty')
      return { title, body }
    },
    priority(): 'high' | 'normal' {
      const value = text('priority') ?? 'high'
      if (value !== 'high' && value !== 'normal') throw refuse('priority', 'must be high or normal')
      return value
    },
    ttlSeconds: () => whole('ttl_seconds', maxTtlSeconds),
    target(): Target {
      const value = item.target
      if (value === undefined) throw refuse('target', 'must be given')
      if (!isObject(value)) throw refuse('target', 'must be an object')
      const named = ['project_user_id', 'device_id', 'user_id'].filter((name) => !isAbsent(value[name]))
      const [field] = named
      if (named.length !== 1 || !field)
        throw refuse('target', 'must have exactly one of project_user_id, device_id and user_id')
      const id = checkChosenId(value[field], field === 'project_user_id' ? 512 : 255, (message) =>
        refuse(`target.${field}`, message)
      )
      if (field === 'project_user_id') return { projectUserId: id }
      return field === 'device_id' ? { deviceId: id } : { userId: id }
    }
  }
}
