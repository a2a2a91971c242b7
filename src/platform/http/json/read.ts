import { readJson, setOwn } from '../../json/names.ts'
import { isStorable } from '../../json/storable.ts'
import { building, mostNames, unknownNames, type Wanted } from '../schema.ts'
import { sizeOf } from './count.ts'
import { endOfNumber, endOfString, isWhite } from './tokens.ts'

export interface Most {
  levels: number
  values: number
}

/** The text is not JSON, or exceeds the bounds. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

/** A container that is being built. */
interface Frame {
  value: Record<string, unknown> | unknown[]
  wanted: Wanted | undefined
  /** Whether the schema accepts such a container at all; otherwise it stays empty. */
  fits: boolean
  size: number
  unknown: number
  name: string
  /** Whether the next value inside is kept. */
  keeps: boolean
  inner: Wanted | undefined
}

/** The most values that are parsed at once: 16 ms in the worst case, in which every object has different fields. */
export const mostAtOnce = 20_000

/** How long one slice may take. Other requests are served between two slices. */
const sliceMs = 8
/** Values between two checks of the clock. */
const lookEvery = 2_000

/**
 * Reads JSON as `JSON.parse` does, but in slices, and builds only the parts that `wanted` uses. It checks the grammar
 * of all other parts (members that a schema does not name, entries past `maxItems`, containers in the place of a plain
 * value) and leaves them out. One entry past `maxItems` is built, so that the reader of the list refuses it in its own
 * words.
 */
export async function readInSlices(body: Buffer, wanted: Wanted | undefined, most: Most): Promise<unknown> {
  const steps = read(body, wanted, most)
  for (;;) {
    const until = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (performance.now() < until)
    await new Promise(setImmediate)
  }
}

/** Reads like `JSON.parse`, and many values in slices. */
export async function parseBounded(body: Buffer, most: Most): Promise<unknown> {
  // A value takes two bytes at least.
  const values = body.length <= 2 * mostAtOnce ? 0 : (await sizeOf(body)).values
  if (values > most.values) throw tooMany(most)
  return values > mostAtOnce ? readInSlices(body, undefined, most) : readJson(body.toString('utf8'))
}

const tooMany = ({ values }: Most) => new Unreadable(`the body has more than ${values} values`)

function* read(body: Buffer, root: Wanted | undefined, most: Most): Generator<undefined, unknown> {
  const length = body.length
  let at = 0
  let result: unknown
  let values = 0
  let steps = 0
  /** The containers that are being built. */
  const frames: Frame[] = []
  /** The containers inside a value that is dropped: 1 for an object, 0 for an array. */
  let dropped = new Uint8Array(64)
  let droppedLevels = 0
  let frame: Frame | undefined

  const fail = (): never => {
    const found = at < length ? `unexpected character at byte ${at}` : 'unexpected end'
    throw new Unreadable(`the body is not JSON: ${found}`)
  }
  const white = () => {
    while (at < length && isWhite(body[at]!)) at += 1
  }
  /** Counts a value that is built. */
  const built = () => {
    values += 1
    if (values > most.values) throw tooMany(most)
  }
  const put = (value: unknown) => {
    if (!frame) result = value
    else if (Array.isArray(frame.value)) frame.value.push(value)
    else setOwn(frame.value, frame.name, value)
  }
  /** Reads the string that begins here, whose end is known. */
  const textUntil = (end: number, escaped: boolean): string => {
    if (!escaped) return body.toString('utf8', at + 1, end - 1)
    const text = JSON.parse(body.toString('utf8', at, end)) as string
    if (!isStorable(text)) throw new Unreadable('a string holds NUL or a lone surrogate')
    return text
  }
  const string = (needed: boolean): string => {
    const { end, escaped } = endOfString(body, at)
    if (end < 0) {
      at = -end
      fail()
    }
    const text = needed || escaped ? textUntil(end, escaped) : ''
    at = end
    return text
  }
  const open = (isObject: boolean, keeps: boolean, wanted: Wanted | undefined) => {
    if (keeps) {
      built()
      if (frames.length >= most.levels) throw new Unreadable(`the body has more than ${most.levels} levels`)
      const value = isObject ? {} : []
      put(value)
      frame = frameOf(value, wanted?.[building] ?? wanted)
      frames.push(frame)
    } else {
      if (droppedLevels === dropped.length) {
        const larger = new Uint8Array(dropped.length * 2)
        larger.set(dropped)
        dropped = larger
      }
      dropped[droppedLevels] = isObject ? 1 : 0
      droppedLevels += 1
    }
  }
  const inObject = () => (droppedLevels > 0 ? dropped[droppedLevels - 1] === 1 : !Array.isArray(frame!.value))
  const close = () => {
    at += 1
    if (droppedLevels > 0) droppedLevels -= 1
    else {
      frames.pop()
      frame = frames.at(-1)
    }
  }
  /** The name of a member with its colon. */
  const name = () => {
    white()
    if (body[at] !== 0x22) fail()
    const wants = droppedLevels === 0
    const text = string(wants)
    if (wants) enterMember(frame!, text)
    white()
    if (body[at] !== 0x3a) fail()
    at += 1
  }

  for (;;) {
    if (++steps % lookEvery === 0) yield
    white()
    const keeps = droppedLevels === 0 && (frame === undefined || frame.keeps)
    const wanted = frame ? frame.inner : root
    const byte = body[at]
    if (byte === 0x7b || byte === 0x5b) {
      const isObject = byte === 0x7b
      open(isObject, keeps, wanted)
      at += 1
      white()
      if (body[at] === (isObject ? 0x7d : 0x5d)) close()
      else {
        if (isObject) name()
        else if (droppedLevels === 0) enterItem(frame!)
        continue
      }
    } else if (byte === 0x22) {
      const text = string(keeps)
      if (keeps) {
        built()
        put(text)
      }
    } else {
      const literal = literalAt(body, at)
      if (literal) {
        at += literal.length
        if (keeps) {
          built()
          put(literal.value)
        }
      } else {
        const end = endOfNumber(body, at)
        if (end < 0) fail()
        if (keeps) {
          built()
          put(Number(body.toString('latin1', at, end)))
        }
        at = end
      }
    }
    // After a value: the ends of containers, then a comma, or the end of the text.
    for (;;) {
      white()
      if (droppedLevels === 0 && !frame) {
        if (at < length) fail()
        return result
      }
      const next = body[at]
      const isObject = inObject()
      if (next === (isObject ? 0x7d : 0x5d)) {
        close()
        if (++steps % lookEvery === 0) yield
        continue
      }
      if (next !== 0x2c) fail()
      at += 1
      if (isObject) name()
      else if (droppedLevels === 0) enterItem(frame!)
      break
    }
  }
}

function frameOf(value: Frame['value'], wanted: Wanted | undefined): Frame {
  const type = Array.isArray(value) ? 'array' : 'object'
  const fits = wanted?.type === undefined || [wanted.type].flat().includes(type)
  return { value, wanted, fits, size: 0, unknown: 0, name: '', keeps: true, inner: undefined }
}

function enterItem(frame: Frame): void {
  const { wanted } = frame
  frame.size += 1
  frame.keeps = frame.fits && frame.size <= (wanted?.maxItems ?? Infinity) + 1
  frame.inner = wanted?.items
}

function enterMember(frame: Frame, name: string): void {
  const { wanted, value } = frame
  frame.name = name
  frame.keeps = frame.fits
  frame.inner = undefined
  if (!wanted || !frame.fits) return
  const { properties, additionalProperties } = wanted
  if (properties && Object.hasOwn(properties, name)) frame.inner = properties[name]
  else if (typeof additionalProperties === 'object') frame.inner = additionalProperties
  else if (properties) {
    frame.keeps = false
    if (Object.hasOwn(value, name) || frame.unknown >= (wanted[unknownNames] ?? 0)) return
    frame.unknown += 1
    setOwn(value, name, null)
  }
  const limit = wanted[mostNames]
  if (limit === undefined || !frame.keeps || Object.hasOwn(value, name)) return
  frame.size += 1
  frame.keeps = frame.size <= limit + 1
}

const literals = [
  { text: Buffer.from('true'), value: true },
  { text: Buffer.from('false'), value: false },
  { text: Buffer.from('null'), value: null }
]

function literalAt(body: Buffer, at: number): { length: number; value: boolean | null } | undefined {
  const byte = body[at]
  if (byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) return undefined
  for (const { text, value } of literals) {
    if (body.compare(text, 0, text.length, at, Math.min(at + text.length, body.length)) === 0)
      return { length: text.length, value }
  }
  return undefined
}
