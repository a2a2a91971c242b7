import { randomFillSync } from 'node:crypto'

/** A project's id. Every store function takes one, so that no statement forgets its tenant. */
export type ProjectId = string & { readonly __brand: 'ProjectId' }

const random = new Uint8Array(16)
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

let lastMs = 0
let sequence = 0

/**
 * A UUIDv7 (RFC 9562): time first, so that keys arrive in index order. Within one process ids never go backwards:
 * the 12 bits after the time count up inside a millisecond and borrow from the next one when they run out.
 */
export function newId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs
    sequence = 0
  } else if (++sequence > 0xfff) {
    lastMs += 1
    sequence = 0
  }
  randomFillSync(random)
  const h = (index: number) => hex[random[index]!]!
  const time = lastMs.toString(16).padStart(12, '0')
  const variant = hex[0x80 | (random[8]! & 0x3f)]!
  return (
    `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${variant}${h(9)}-` +
    `${h(10)}${h(11)}${h(12)}${h(13)}${h(14)}${h(15)}`
  )
}

/** The least id of a millisecond: ids carry their time, so this bounds everything older. */
export function firstIdAt(milliseconds: number): string {
  const time = Math.max(0, milliseconds).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text can be compared with a uuid column without PostgreSQL refusing it. */
export const isUuid = (text: string): boolean => uuid.test(text)
