import { hash, randomFillSync, randomUUID } from 'node:crypto'

/** A project's id. Every store function takes one, so that no statement forgets its tenant. */
export type ProjectId = string & { readonly __brand: 'ProjectId' }

/** Random digits are drawn for many ids at once: one system call for each id cost more than the id. */
const random = Buffer.alloc(8 * 512)
const digitsOfAnId = 16
let digits = ''
let drawn = 0

let lastMs = 0
let lastTime = ''
let sequence = 0

/**
 * A UUIDv7 (RFC 9562): time first, so that keys arrive in index order. Within one process ids never decrease: the 12
 * bits after the time count up inside a millisecond and borrow from the next one when they run out.
 */
export function newId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) startMillisecond(nowMs)
  else if (++sequence > 0xfff) startMillisecond(lastMs + 1)
  if (drawn === digits.length) {
    digits = randomFillSync(random).toString('hex')
    drawn = 0
  }
  const at = drawn
  drawn += digitsOfAnId
  const count = (0x7000 + sequence).toString(16)
  const variant = '89ab'[random[at / 2]! >> 6]
  return `${lastTime}-${count}-${variant}${digits.slice(at + 1, at + 4)}-${digits.slice(at + 4, at + 16)}`
}

function startMillisecond(milliseconds: number): void {
  const time = milliseconds.toString(16).padStart(12, '0')
  lastMs = milliseconds
  lastTime = `${time.slice(0, 8)}-${time.slice(8)}`
  sequence = 0
}

/** The smallest id of a millisecond: ids contain their time, so this separates older ids from newer ones. */
export function firstIdAt(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) throw new RangeError(`no id begins at ${milliseconds} ms`)
  const time = Math.max(0, milliseconds).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** A UUIDv8 that is derived from a name: the same name always has the same id. */
export function idOf(name: string): string {
  const digest = hash('sha256', name, 'hex')
  const variant = '89ab'[Number.parseInt(digest[16]!, 16) & 3]
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

/**
 * An id that is derived from a name and begins with a time, as a UUIDv7 does. Ids of triggers need the time: messages lie
 * in the month of their trigger's id.
 */
export const timedIdOf = (name: string, atMs: number): string => firstIdAt(atMs).slice(0, 14) + idOf(name).slice(14)

/** A random id that begins with a time, in the past or in the future. Unlike `newId` it has no order within that time. */
export const idAt = (atMs: number): string => firstIdAt(atMs).slice(0, 15) + randomUUID().slice(15)

/** The time with which an id begins. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text can be compared with a uuid column without PostgreSQL refusing it. */
export const isUuid = (text: string): boolean => uuid.test(text)
