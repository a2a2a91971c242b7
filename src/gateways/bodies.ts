import { randomBytes } from 'node:crypto'
import type { Size } from './gateway.ts'
import type { Notification, Push } from './push.ts'
import type { Body } from './transport/transport.ts'

// The payloads of a campaign are the same except for a few ids. Making the JSON of each takes 2.5 µs of a push, which
// costs 12 in all; so the JSON of the second push in a row with the same content is cut at its ids, and the parts are
// copied for the following ones.

/** The fields of a push that may differ from device to device without changing the rest of its payload. */
const varying = ['token', 'messageId', 'collapseId'] as const
/** No content contains these: they are random. */
const markers = varying.map(() => randomBytes(16).toString('hex'))
const anyMarker = new RegExp(`(${markers.join('|')})`)
/** A longer collapse id is replaced by a digest in some places, so it is no part to copy. */
const longestCollapseId = 64

const plain = new Uint8Array(128)
for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:')
  plain[letter.charCodeAt(0)] = 1

/** Whether a text consists of letters, digits, `-`, `_`, `.` and `:`, which neither JSON nor a path changes. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (plain[text.charCodeAt(at)] !== 1) return false
  return true
}

/** JSON that is encoded where it is sent from. */
class JsonText implements Body {
  readonly #text: string
  readonly length: number

  constructor(text: string) {
    this.#text = text
    this.length = Buffer.byteLength(text)
  }

  write(into: Buffer, at: number): void {
    into.write(this.#text, at, this.length, 'utf8')
  }
}

export const jsonBody = (payload: object): Body => new JsonText(JSON.stringify(payload))

/** The payload of one push, cut at the varying fields. */
class Template {
  /** Fixed bytes. The text of `holes[n]` follows `parts[n]`; the last part has none. */
  readonly parts: Buffer[] = []
  readonly holes: (typeof varying)[number][] = []
  #fixed = 0

  constructor(text: string) {
    for (const [index, piece] of text.split(anyMarker).entries())
      if (index % 2 === 1) this.holes.push(varying[markers.indexOf(piece)]!)
      else this.parts.push(Buffer.from(piece))
    for (const { length } of this.parts) this.#fixed += length
  }

  /** Undefined for a push with texts that JSON would change. */
  fill(push: Push): Body | undefined {
    let length = this.#fixed
    for (const hole of this.holes) {
      if (!isPlain(push[hole])) return undefined
      length += push[hole].length
    }
    return new Filled(this, push, length)
  }
}

class Filled implements Body {
  readonly #template: Template
  readonly #push: Push
  readonly length: number

  constructor(template: Template, push: Push, length: number) {
    this.#template = template
    this.#push = push
    this.length = length
  }

  write(into: Buffer, start: number): void {
    const { parts, holes } = this.#template
    let at = start
    for (let index = 0; index < parts.length; index += 1) {
      into.set(parts[index]!, at)
      at += parts[index]!.length
      if (index < holes.length) at += into.write(this.#push[holes[index]!], at, 'latin1')
    }
  }
}

interface Last {
  push: Push
  /** The seconds that it had left, which some payloads contain. */
  seconds: number
  size: Size
  template: Template | undefined
}

export interface Payload {
  body: Body
  size: Size
}

/** Makes the payloads of one gateway. `sizeOf` gets a payload and its bytes. */
export function createBodies<P extends object>(
  payloadOf: (push: Push, now: number) => P,
  sizeOf: (payload: P, bytes: number) => Size
) {
  let last: Last | undefined

  function whole(push: Push, now: number): Payload {
    const payload = payloadOf(push, now)
    const body = jsonBody(payload)
    const size = sizeOf(payload, body.length)
    last = { push, seconds: secondsLeft(push, now), size, template: undefined }
    return { body, size }
  }

  return (push: Push, now: number): Payload => {
    if (!last || !isAlike(last, push, now)) return whole(push, now)
    if (!last.template) {
      const collapseId = push.collapseId && markers[2]!
      const sample = { ...push, token: markers[0]!, messageId: markers[1]!, collapseId }
      last.template = new Template(JSON.stringify(payloadOf(sample, now)))
    }
    const body = last.template.fill(push)
    return body ? { body, size: last.size } : whole(push, now)
  }
}

const secondsLeft = ({ notAfter }: Push, now: number) => Math.ceil((notAfter - now) / 1000)

/** Whether the payloads of two pushes differ in the varying fields only, and have the same length. */
function isAlike({ push: last, seconds }: Last, push: Push, now: number): boolean {
  return (
    push.content.kind === 'alert' &&
    last.content.kind === 'alert' &&
    push.messageId.length === last.messageId.length &&
    push.collapseId.length === last.collapseId.length &&
    push.collapseId.length <= longestCollapseId &&
    push.priority === last.priority &&
    Math.floor(push.notAfter / 1000) === Math.floor(last.notAfter / 1000) &&
    secondsLeft(push, now) === seconds &&
    isSame(push.content.notification, last.content.notification)
  )
}

/** Compares texts by value, and lists and objects by identity. */
function isSame(a: Notification, b: Notification): boolean {
  if (a === b) return true
  for (const name in a) if (a[name as keyof Notification] !== b[name as keyof Notification]) return false
  for (const name in b) if (!(name in a)) return false
  return true
}
