/**
 * Lists of ids, texts and numbers in PostgreSQL's binary form. As text, the driver looks for quotes in each element with two
 * regular expressions, and the server reads each character twice: docs/decisions/0085 has figures. Hence the plain loops.
 */
export type ElementType = 'uuid' | 'text' | 'int'

/** Numbers of the types in PostgreSQL's catalogue, which are the same on every server. */
const oids = { uuid: 2950, text: 25, int: 23 } as const
const headerBytes = 20
const uuidLength = 36

/** The list as a parameter, or undefined for one that has to travel as text, where the server explains what is wrong with it. */
export function packList(type: ElementType, values: readonly unknown[]): Buffer | undefined {
  if (type === 'uuid') return packUuids(values)
  return type === 'int' ? packInts(values) : packTexts(values)
}

function begin(type: ElementType, bytes: number, count: number): Buffer {
  const buffer = Buffer.allocUnsafe(headerBytes + bytes)
  buffer.writeInt32BE(1, 0) // dimensions
  buffer.writeInt32BE(1, 4) // It may hold nulls.
  buffer.writeInt32BE(oids[type], 8)
  buffer.writeInt32BE(count, 12)
  buffer.writeInt32BE(1, 16) // the place of the first element
  return buffer
}

const isAbsent = (value: unknown) => value === null || value === undefined
const isInt = (value: unknown): value is number => typeof value === 'number' && (value | 0) === value

/** The value of each hexadecimal digit by its code. */
const digits = new Int8Array(128).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = value
  digits[digit.toUpperCase().charCodeAt(0)] = value
}

function packUuids(values: readonly unknown[]): Buffer | undefined {
  const buffer = begin('uuid', values.length * 20, values.length)
  let at = headerBytes
  for (const value of values) {
    if (isAbsent(value)) {
      at = buffer.writeInt32BE(-1, at)
      continue
    }
    if (typeof value !== 'string' || value.length !== uuidLength) return undefined
    at = buffer.writeInt32BE(16, at)
    let wrong = 0
    for (let place = 0; place < uuidLength; place += 2) {
      if (place === 8 || place === 13 || place === 18 || place === 23) wrong |= value.charCodeAt(place++) ^ 45
      const high = digits[value.charCodeAt(place)] ?? -1
      const low = digits[value.charCodeAt(place + 1)] ?? -1
      wrong |= (high | low) & ~15
      buffer[at++] = (high << 4) | low
    }
    if (wrong !== 0) return undefined
  }
  return buffer.subarray(0, at)
}

function packInts(values: readonly unknown[]): Buffer | undefined {
  const buffer = begin('int', values.length * 8, values.length)
  let at = headerBytes
  for (const value of values) {
    if (isAbsent(value)) at = buffer.writeInt32BE(-1, at)
    else if (isInt(value)) at = buffer.writeInt32BE(value, buffer.writeInt32BE(4, at))
    else return undefined
  }
  return buffer.subarray(0, at)
}

/** Most bytes of UTF-8 for a unit of UTF-16. */
const bytesEach = 3

function packTexts(values: readonly unknown[]): Buffer | undefined {
  let units = 0
  for (const value of values) {
    if (typeof value === 'string') units += value.length
    else if (!isAbsent(value)) return undefined
  }
  const buffer = begin('text', values.length * 4 + units * bytesEach, values.length)
  let at = headerBytes
  for (const value of values) {
    const start = at + 4
    if (typeof value === 'string') {
      const length = writeText(buffer, value, start)
      buffer.writeInt32BE(length, at)
      at = start + length
    } else at = buffer.writeInt32BE(-1, at)
  }
  return buffer.subarray(0, at)
}

/** Ids are short and ASCII, for which a call into Node's native code takes longer than the loop. */
const shortText = 48

function writeText(buffer: Buffer, text: string, at: number): number {
  const { length } = text
  if (length > shortText) return buffer.write(text, at)
  for (let place = 0; place < length; place += 1) {
    const code = text.charCodeAt(place)
    if (code > 127) return buffer.write(text, at)
    buffer[at + place] = code
  }
  return length
}

/** The parameters of a statement that are lists of these types, by their places; not one that is cast to two types. */
export function listsOf(text: string): ReadonlyMap<number, ElementType> {
  const found = new Map<number, ElementType>()
  for (const [, place, type] of text.matchAll(/\$(\d+)::(uuid|text|int)\[\]/g))
    found.set(Number(place) - 1, type as ElementType)
  for (const [, place, type] of text.matchAll(/\$(\d+)::(\w+(?:\[\])?)/g))
    if (type !== `${found.get(Number(place) - 1)}[]`) found.delete(Number(place) - 1)
  return found
}

/** The values of a statement as they travel. */
export function withLists(
  lists: ReadonlyMap<number, ElementType> | undefined,
  values: readonly unknown[]
): readonly unknown[] {
  if (!lists || lists.size === 0) return values
  const packed = values.slice()
  for (const [place, type] of lists) {
    const value = packed[place]
    if (Array.isArray(value)) packed[place] = packList(type, value) ?? value
  }
  return packed
}
