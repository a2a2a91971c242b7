import type { Cursor } from './cursor.ts'
import { linkWords, negations, notAName } from './words.ts'

export interface Pair {
  key: string
  /** Undefined: there is none, or its end is unclear. */
  value: unknown
  next: number
}

/** Whether a plain value after a colon is over: at a mark, at a connecting word or where the next pair begins. */
export function endsValue(cursor: Cursor, at: number): boolean {
  const token = cursor.token(at)
  if (token?.kind === 'quoted') return cursor.isMark(at + 1, ':') || cursor.word(at + 1) === '='
  if (token?.kind !== 'word') return true
  return (
    /^(and|with|&)$/.test(token.lower) ||
    /[=:]/.test(token.text) ||
    cursor.isMark(at + 1, ':') ||
    cursor.word(at + 1) === '='
  )
}

const propertyName = /^[\p{L}_$][\p{L}\p{N}_.$-]{0,127}$/u

export const isPropertyName = (text: string): boolean => propertyName.test(text)

const isName = (text: string) => propertyName.test(text) && !notAName.has(text.toLowerCase())

/** Unquoted numbers and true and false, also as Python prints them, are what they are; everything else is a text. */
function typed(text: string): unknown {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (!/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(text)) return text
  return Number(text)
}

/** `with currency "EUR"`, `with level 7`: beside its name a value must be quoted, or a number, or true or false. */
export function besideAt(cursor: Cursor, at: number): Pair | undefined {
  const token = cursor.token(at)
  if (token?.kind !== 'word' || !propertyName.test(token.text)) return undefined
  const { notAKey, verbForms } = cursor.vocabulary
  if (notAKey.has(token.lower) || verbForms.has(token.lower) || negations.has(token.lower)) return undefined
  const place = cursor.skipWords(at + 1, linkWords)
  const value = cursor.token(place)
  if (value?.kind === 'quoted') return { key: token.text, value: value.text, next: place + 1 }
  if (value?.kind !== 'word' || !endsValue(cursor, place + 1)) return undefined
  const found = typed(value.text)
  return typeof found === 'string' ? undefined : { key: token.text, value: found, next: place + 1 }
}

/** Words for no value. Only quotes make them a text. */
const noValue = /^(?:null|none|nil|undefined|nan|n\/a)$/i

/** A plain value ends with its word. One with a comma, a second sign or the stars of a bold text in it is a riddle. */
const plain = (text: string): unknown =>
  /[,;"{}()]|^\*|[*…。，！？、]$/.test(text) || (text.includes('=') && !/^https?:\/\//.test(text)) || noValue.test(text)
    ? undefined
    : typed(text)

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
    // An equals sign that touches its name makes anything one; a colon may be that of a sentence.
    if (!(token.text[sign] === '=' ? propertyName.test(key) : isName(key))) return undefined
    return rest === '' ? pair(key, valueAt(at + 1)) : { key, value: plain(rest), next: at + 1 }
  }
  if (sign > 0 || !isName(token.text)) return undefined
  // "Create: bo" would be another order.
  const colon = cursor.isMark(at + 1, ':') && !cursor.vocabulary.verbForms.has(token.lower)
  if (cursor.word(at + 1) === '=' || colon) return pair(token.text, valueAt(at + 2))
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
    // A word of the sentence is no value: that was forgotten. And one that goes on is not one word: `note: call now`.
    const value = cursor.value(place) === undefined || !endsValue(cursor, place + 1) ? undefined : plain(word)
    return { value, next: value === undefined ? place : place + 1 }
  }
}
