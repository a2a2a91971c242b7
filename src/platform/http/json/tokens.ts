export const isWhite = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const isHex = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66))

/** " \ / b f n r t */
const escapes = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

/**
 * The position after the string that begins at `start`; negative: the position of its fault. `escaped`: it contains
 * escapes.
 */
export function endOfString(body: Buffer, start: number): { end: number; escaped: boolean } {
  let escaped = false
  let at = start + 1
  while (at < body.length) {
    const byte = body[at]!
    if (byte === 0x22) return { end: at + 1, escaped }
    if (byte < 0x20) break
    if (byte === 0x5c) {
      escaped = true
      at += 1
      const letter = body[at]
      if (letter === 0x75) {
        for (const last = at + 4; at < last; ) {
          at += 1
          if (!isHex(body[at])) return { end: -at, escaped }
        }
      } else if (letter === undefined || !escapes.has(letter)) break
    }
    at += 1
  }
  return { end: -at, escaped }
}

/** The position after the number that begins at `start`; -1 if there is none. */
export function endOfNumber(body: Buffer, start: number): number {
  const first = body[start] === 0x2d ? start + 1 : start
  let at = body[first] === 0x30 ? first + 1 : digits(body, first)
  if (at > 0 && body[at] === 0x2e) at = digits(body, at + 1)
  if (at > 0 && (body[at] === 0x65 || body[at] === 0x45)) {
    const sign = body[at + 1] === 0x2b || body[at + 1] === 0x2d
    at = digits(body, sign ? at + 2 : at + 1)
  }
  return at
}

/** The position after one digit or more; -1 if there is none. */
function digits(body: Buffer, start: number): number {
  let at = start
  while (body[at]! >= 0x30 && body[at]! <= 0x39) at += 1
  return at === start ? -1 : at
}
