import { huffmanCodes } from './tables.ts'

/**
 * A tree of the code: at `2 * node + bit` stands the next node, or `-1 - symbol` at the end of a code. The root is 0,
 * and no code leads back to it, so 0 also means that there is no such code.
 */
const tree = makeTree()
const endOfString = 256

function makeTree(): Int16Array {
  const made = new Int16Array(2 * 256 + 2)
  let nodes = 1
  for (const { symbol, bits, code } of huffmanCodes) {
    let node = 0
    for (let bit = bits - 1; bit >= 0; bit -= 1) {
      const at = 2 * node + ((code >>> bit) & 1)
      if (bit === 0) made[at] = -1 - symbol
      else {
        if (made[at] === 0) made[at] = nodes++
        node = made[at]!
      }
    }
  }
  return made
}

/** Undefined for a text that no encoder may make (RFC 7541, 5.2). */
export function decodeHuffman(from: Buffer, start: number, end: number): string | undefined {
  const out = Buffer.allocUnsafe(Math.ceil(((end - start) * 8) / 5))
  let length = 0
  let node = 0
  /** The bits since the last symbol: the padding must be shorter than a byte, and consist of ones. */
  let pending = 0
  let ones = true
  for (let at = start; at < end; at += 1) {
    const byte = from[at]!
    for (let bit = 7; bit >= 0; bit -= 1) {
      const set = (byte >>> bit) & 1
      const next = tree[2 * node + set]!
      if (next < 0) {
        if (next === -1 - endOfString) return undefined
        out[length++] = -1 - next
        node = 0
        pending = 0
        ones = true
      } else {
        node = next
        pending += 1
        ones &&= set === 1
      }
    }
  }
  return pending > 7 || !ones ? undefined : out.toString('latin1', 0, length)
}
