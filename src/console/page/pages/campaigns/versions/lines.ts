export interface Line {
  sign: ' ' | '+' | '-'
  line: string
}

/** Pairs of lines that are compared; more would stop the page. */
const mostPairs = 4_000_000

/** Lines are equal whether or not a comma follows: the comma depends on the next line. */
const isEqual = (one: string | undefined, two: string | undefined) => one?.replace(/,$/, '') === two?.replace(/,$/, '')

/** The lines of a value as JSON. */
export const linesOf = (value: object | undefined): string[] =>
  value ? JSON.stringify(value, null, 2).split('\n') : []

/** A diff by lines: equal lines at both ends, and the longest common subsequence of those between them. */
export function compareLines(before: string[], now: string[]): Line[] {
  let start = 0
  while (start < Math.min(before.length, now.length) && isEqual(before[start], now[start])) start++
  let end = 0
  while (
    end < Math.min(before.length, now.length) - start &&
    isEqual(before[before.length - 1 - end], now[now.length - 1 - end])
  )
    end++
  const same = (lines: string[]): Line[] => lines.map((line) => ({ sign: ' ', line }))
  return [
    ...same(now.slice(0, start)),
    ...between(before.slice(start, before.length - end), now.slice(start, now.length - end)),
    ...same(end > 0 ? now.slice(-end) : [])
  ]
}

function between(before: string[], now: string[]): Line[] {
  if (before.length * now.length > mostPairs)
    return [
      ...before.map((line) => ({ sign: '-', line }) as const),
      ...now.map((line) => ({ sign: '+', line }) as const)
    ]
  const common = Array.from({ length: before.length + 1 }, () => new Array<number>(now.length + 1).fill(0))
  for (let b = before.length - 1; b >= 0; b--)
    for (let n = now.length - 1; n >= 0; n--)
      common[b]![n] = isEqual(before[b], now[n])
        ? common[b + 1]![n + 1]! + 1
        : Math.max(common[b + 1]![n]!, common[b]![n + 1]!)
  const found: Line[] = []
  let [b, n] = [0, 0]
  while (b < before.length || n < now.length) {
    if (b < before.length && n < now.length && isEqual(before[b], now[n])) {
      found.push({ sign: ' ', line: now[n]! })
      b++
      n++
    } else if (b < before.length && (n === now.length || common[b + 1]![n]! >= common[b]![n + 1]!))
      found.push({ sign: '-', line: before[b++]! })
    else found.push({ sign: '+', line: now[n++]! })
  }
  return found
}
