import { Refusal, type RefusalCode } from './errors.ts'
import { faultIn } from './json/storable.ts'
import { readTime } from './time.ts'

// Reads the fields of a body that a schema cannot describe. Every refusal names the path of its fault, as in
// `push_notifications[3].title`.

export type Fields = Record<string, unknown>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Contract B.9: many clients write null for a field that they do not set. */
export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

/**
 * Counts code points, as people count characters, and only where the UTF-16 units do not decide: a text of 10 MiB would
 * become ten million of them.
 */
export const longerThan = (text: string, limit: number): boolean =>
  text.length > 2 * limit || (text.length > limit && [...text].length > limit)

/** Makes the refusal of a fault at a path. */
export type Refuse = (path: string, message: string) => Refusal

export const refusing =
  (code: RefusalCode): Refuse =>
  (whole, message) => {
    const path = shortPath(whole)
    return new Refusal(code, `${path}: ${message}`, [{ path, message }])
  }

const mostPath = 300

/** Callers choose names of properties, and a name of 10 MiB shall not come back in the refusal. */
export const shortPath = (path: string): string =>
  path.length <= mostPath ? path : `${path.slice(0, mostPath).replace(/[\ud800-\udbff]$/, '')}…`

/**
 * The rules for an id that a caller chooses and that appears in paths (decision 0007). Never coerced: 123 is not an id.
 */
export function checkChosenId(id: unknown, maxLength: number, refuse: (message: string) => Refusal): string {
  if (typeof id !== 'string') throw refuse('must be a string')
  if (id === '') throw refuse('must not be empty')
  if (longerThan(id, maxLength)) throw refuse(`must be at most ${maxLength} characters`)
  if (/\p{Cc}/u.test(id)) throw refuse('must not hold control characters')
  if (!id.isWellFormed()) throw refuse('must not hold lone surrogates')
  if (id.trim() === '') throw refuse('must not be only white space')
  if (id === '.' || id === '..') throw refuse('must not be . or .., which cannot stand in a path')
  return id
}

const longestAddress = 4_096

/** An absolute address, with one of the given schemes if there are any. */
export function checkAddress(address: string, schemes: string[], refuse: (message: string) => Refusal): string {
  if (longerThan(address, longestAddress)) throw refuse(`must be at most ${longestAddress} characters`)
  const parsed = URL.canParse(address) ? new URL(address) : undefined
  if (!parsed) throw refuse('must be an absolute address')
  if (schemes.length > 0 && !schemes.includes(parsed.protocol.slice(0, -1)))
    throw refuse(`must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`)
  return address
}

/** Bounds of a field that takes any JSON. */
export interface JsonBounds {
  levels: number
  bytes: number
}

/** Any JSON within bounds. Depth is checked first: a value that is too deep exhausts the stack of its writer. */
export function checkJson(value: object, { levels, bytes }: JsonBounds, refuse: (message: string) => Refusal): void {
  const fault = faultIn(value, levels, false)
  if (fault === 'levels') throw refuse(`must have at most ${levels} levels`)
  if (fault) throw refuse('a number is out of range')
  if (Buffer.byteLength(JSON.stringify(value)) > bytes) throw refuse(`must be at most ${inUnits(bytes)}`)
}

export const inUnits = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`

/** The most faults in one refusal: more than a caller corrects at once. */
const mostFaults = 20

/** Reads each entry of a list. One refusal names the faults of them all. */
export function readEach<Given, Read>(list: readonly Given[], read: (one: Given, index: number) => Read): Read[] {
  const done: Read[] = []
  const faults: Refusal[] = []
  for (const [index, one] of list.entries()) {
    try {
      done.push(read(one, index))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (faults.push(error) >= mostFaults) break
    }
  }
  const [first] = faults
  if (!first) return done
  throw new Refusal(
    first.code,
    first.message,
    faults.flatMap(({ details }) => details)
  )
}

/** The entries of `body[name]`, each with its own reader. */
export function readItems<Item>(
  body: unknown,
  { name, most, code }: { name: string; most: number; code: RefusalCode },
  read: (reader: FieldReader) => Item
): Item[] {
  const refuse = refusing(code)
  if (!isObject(body)) throw refuse('body', 'must be an object')
  const items = body[name]
  if (items === undefined) throw refuse(name, 'must be given')
  if (!Array.isArray(items)) throw refuse(name, 'must be an array')
  if (items.length === 0) throw refuse(name, 'must not be empty')
  if (items.length > most) throw refuse(name, `must have at most ${most} items`)
  return readEach(items, (item, index) => {
    const path = `${name}[${index}]`
    if (!isObject(item)) throw refuse(path, 'must be an object')
    return read(new FieldReader(item, path, refuse))
  })
}

/** Reads the fields of one object. */
export class FieldReader {
  readonly path: string
  readonly #item: Fields
  readonly #refuse: Refuse

  constructor(item: Fields, path: string, refuse: Refuse) {
    this.path = path
    this.#item = item
    this.#refuse = refuse
  }

  value(field: string): unknown {
    return this.#item[field]
  }

  has(field: string): boolean {
    return !isAbsent(this.#item[field])
  }

  /** The refusal of a field, or of the whole object if `field` is empty. */
  refuse(field: string, message: string): Refusal {
    return this.#refuse(field ? `${this.path}.${field}` : this.path, message)
  }

  /** Undefined if it is absent or empty. */
  text(field: string, maxLength?: number): string | undefined {
    const value = this.#item[field]
    if (isAbsent(value) || value === '') return undefined
    if (typeof value !== 'string') throw this.refuse(field, 'must be a string')
    if (maxLength !== undefined && longerThan(value, maxLength))
      throw this.refuse(field, `must be at most ${maxLength} characters`)
    return value
  }

  required(field: string, maxLength?: number): string {
    const value = this.text(field, maxLength)
    if (value === undefined) throw this.refuse(field, this.#item[field] === '' ? 'must not be empty' : 'must be given')
    return value
  }

  whole(field: string, most: number): number | undefined {
    const value = this.#item[field]
    if (isAbsent(value)) return undefined
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
    if (!fits) throw this.refuse(field, `must be a whole number from 0 to ${most}`)
    return value
  }

  /** Unix seconds, from a number of them or an RFC 3339 time. */
  seconds(field: string): number | undefined {
    const value = this.#item[field]
    if (typeof value !== 'string') return this.whole(field, 253_402_300_799)
    const at = readTime(value)?.getTime()
    if (at === undefined || at < 0)
      throw this.refuse(field, 'must be Unix seconds or an RFC 3339 time, with Z or an offset')
    return Math.floor(at / 1000)
  }

  url(field: string, ...schemes: string[]): string | undefined {
    const value = this.text(field)
    return value === undefined ? undefined : checkAddress(value, schemes, (message) => this.refuse(field, message))
  }

  texts(field: string): Record<string, string> | undefined {
    const value = this.#item[field]
    if (isAbsent(value)) return undefined
    if (!isObject(value)) throw this.refuse(field, 'must be an object')
    for (const [name, inner] of Object.entries(value))
      if (typeof inner !== 'string') throw this.refuse(`${field}.${name}`, 'must be a string')
    return value as Record<string, string>
  }

  /** A required object. */
  object(field: string): Fields {
    const value = this.#item[field]
    if (value === undefined) throw this.refuse(field, 'must be given')
    if (!isObject(value)) throw this.refuse(field, 'must be an object')
    return value
  }

  /** A required object of any JSON. */
  json(field: string, bounds: JsonBounds): Fields {
    const value = this.object(field)
    checkJson(value, bounds, (message) => this.refuse(field, message))
    return value
  }
}
