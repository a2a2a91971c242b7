/** PostgreSQL stores neither NUL nor half a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

export type JsonFault = 'levels' | 'number' | 'text'

/**
 * The first thing in parsed JSON that cannot be stored or comes back as another: more levels than allowed, a number that
 * overflowed to infinity, or, where `texts` are looked at, a string or name that PostgreSQL refuses. Goes level by level
 * with a list, so that depth cannot exhaust the stack. Without `numbers`, one out of range hides no text behind it.
 */
export function faultIn(root: unknown, levels: number, texts: boolean, numbers = true): JsonFault | undefined {
  let fault: JsonFault | undefined
  let inner: object[] = []
  /** Returns whether the value is at fault. */
  const look = (value: unknown): boolean => {
    if (typeof value === 'object') {
      if (value !== null) inner.push(value)
    } else if (typeof value === 'number') {
      if (numbers && !Number.isFinite(value)) fault = 'number'
    } else if (texts && typeof value === 'string' && !isStorable(value)) fault = 'text'
    return fault !== undefined
  }
  if (look(root)) return fault
  for (let level = 1; inner.length > 0; level += 1) {
    if (level > levels) return 'levels'
    const holders = inner
    inner = []
    for (const holder of holders) {
      if (Array.isArray(holder)) {
        for (const value of holder) if (look(value)) return fault
        continue
      }
      // A parsed object has no inherited names.
      for (const name in holder) {
        if (texts && !isStorable(name)) return 'text'
        if (look((holder as Record<string, unknown>)[name])) return fault
      }
    }
  }
  return undefined
}

/** Whether a text of JSON holds escapes that can bring in what cannot be stored; its bytes alone cannot. */
export const mayHideText = (text: string): boolean => /\\u(?:0000|[dD][89a-fA-F])/.test(text)
