import type { Cursor } from './cursor.ts'

export interface Pair {
  key: string
  /** Undefined: there is none, or it cannot be told where it ends. */
  value: unknown
  next: number
}

const propertyName = /^[\p{L}_$][\p{L}\p{N}_.$-]{0,127}$/u

/** Unquoted numbers and true and false are what they are; everything else is a text. */
function typed(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  if (!/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(text)) return text
  return Number(text)
}

/** A plain value ends with its word. One with a comma or a second sign in it is a riddle. */
const plain = (text: string): unknown => (/[,;"{}]/.test(text) || text === 'null' ? undefined : typed(text))

/** `key=value`, `key = value`, `key: value` and `key:value`, with the key and the value in quotes or not. */
export function pairAt(cursor: Cursor, at: number): Pair | undefined {
  const token = cursor.token(at)
  if (token?.kind === 'quoted') {
    const sign = cursor.isMark(at + 1, ':') || cursor.word(at + 1) === '='
    return sign && token.text !== '' ? pair(token.text, valueAt(at + 2)) : undefined
  }
  if (token?.kind !== 'word') return undefined
  const sign = token.text.search(/[=:]/)
  if (sign === 0) return undefined
  if (sign > 0 && !token.text.startsWith('://', sign)) {
    const key = token.text.slice(0, sign)
    const rest = token.text.slice(sign + 1)
    if (!propertyName.test(key)) return undefined
    return rest === '' ? pair(key, valueAt(at + 1)) : { key, value: plain(rest), next: at + 1 }
  }
  if (sign > 0 || !propertyName.test(token.text)) return undefined
  if (cursor.word(at + 1) === '=' || cursor.isMark(at + 1, ':')) return pair(token.text, valueAt(at + 2))
  return undefined

  function pair(key: string, found: { value: unknown; next: number }): Pair {
    return { key, ...found }
  }

  function valueAt(place: number): { value: unknown; next: number } {
    const next = cursor.token(place)
    if (next?.kind === 'quoted') return { value: next.text, next: place + 1 }
    const word = next?.kind === 'word' ? next.text : undefined
    if (word === undefined) return { value: undefined, next: place }
    if (/^https?:\/\//.test(word)) return { value: word, next: place + 1 }
    // A word of the sentence is no value: that was forgotten.
    const value = cursor.value(place) === undefined ? undefined : plain(word)
    return { value, next: value === undefined ? place : place + 1 }
  }
}
