/** Random draws that are the same at every run. */
export interface Draw {
  /** An integer from 0 up to, but not including, this one. */
  below(many: number): number
  /** True in this many of a hundred calls. */
  chance(percent: number): boolean
  pick<T>(from: readonly T[]): T
  /** This many different items, in random order. */
  some<T>(from: readonly T[], many: number): T[]
  hex(digits: number): string
}

export function drawFrom(seed: string): Draw {
  let state = 2_166_136_261
  for (const sign of seed) state = Math.imul(state ^ sign.codePointAt(0)!, 16_777_619)
  /** Mulberry32. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (many: number) => Math.floor(next() * many)
  const pick = <T>(from: readonly T[]) => from[below(from.length)]!
  return {
    below,
    pick,
    chance: (percent) => next() * 100 < percent,
    some(from, many) {
      const left = [...from]
      return Array.from({ length: Math.min(many, left.length) }, () => left.splice(below(left.length), 1)[0]!)
    },
    hex: (digits) => Array.from({ length: digits }, () => '0123456789abcdef'[below(16)]).join('')
  }
}
