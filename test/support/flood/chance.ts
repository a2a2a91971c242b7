/** Random choices that a seed repeats. Much faster than fast-check, which matters for a million requests. */
export interface Chance {
  /** A whole number from 0 to below `below`. */
  below(below: number): number
  /** True in `percent` of a hundred cases. */
  percent(percent: number): boolean
  pick<Value>(values: readonly Value[]): Value
  /** One of the branches, as often as its weight says. */
  branch<Value>(...branches: readonly [weight: number, make: () => Value][]): Value
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  // Mulberry32: 32 bits of state are enough here.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    percent: (percent) => next() * 100 < percent,
    pick: (values) => values[below(values.length)]!,
    branch(...branches) {
      let at = below(branches.reduce((sum, [weight]) => sum + weight, 0))
      for (const [weight, make] of branches) {
        if (at < weight) return make()
        at -= weight
      }
      return branches[0]![1]()
    }
  }
}
