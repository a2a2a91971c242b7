/** PostgreSQL stores neither NUL nor half a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

export type JsonFault = 'levels' | 'number' | 'text'

/**
 * The first problem in parsed JSON that keeps it from being stored unchanged: more levels than allowed, a number that
 * overflowed to infinity, or, with `texts`, a string or name that PostgreSQL refuses. Walks level by level with a list,
 * so that depth cannot exhaust the stack. Without `numbers`, a number out of range does not hide the texts after it.
 */
export function faultIn(root: unknown, levels: number, texts: boolean, numbers = true): JsonFault | undefined {
  let fault: JsonFault | undefined
  let inner: object[] = []
  /** Returns whether the value has a problem. */
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

/** Whether a JSON text contains escapes, which can produce characters that cannot be stored; its bytes alone cannot. */
export const mayHideText = (text: string): boolean => /\\u(?:0000|[dD][89a-fA-F])/.test(text)
