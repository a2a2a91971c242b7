import { readJson } from '../../platform/json/names.ts'

/** A piece of a text. Words are as written; `lower` is for looking them up. */
export type Token =
  | { kind: 'word'; text: string; lower: string }
  | { kind: 'quoted'; text: string }
  | { kind: 'json'; value: Record<string, unknown> }
  | { kind: 'mark'; text: string }

export interface Tokens {
  tokens: Token[]
  /** Why the text cannot be trusted to mean what it seems to, in words for people; undefined if it can. */
  fault: string | undefined
}

/** Opening quotes with those that close them. A single quote may also be an apostrophe. */
const closing = new Map([
  ['"', '"'],
  ['“', '”“"'],
  ['”', '”'],
  ['„', '“”"'],
  ['«', '»'],
  ['»', '«'],
  ['`', '`'],
  ["'", "'"],
  ['‘', '’'],
  ['‚', '‘’']
])
const apostrophes = new Set(["'", '’', '‘'])
/** Marks wherever they stand. A full stop or a colon is one only at the end of a word: both are part of many ids. */
const marks = ',;()!?='
const isSpace = (char: string | undefined) => char !== undefined && /\s/.test(char)
/** Characters after a closing quote. Any other means that a quote was inside a quote. */
const endsQuote = (char: string | undefined) => char === undefined || isSpace(char) || /[,;.!?:=)}\]]/.test(char)

/** Splits a text in one pass: no place is looked at more than a few times, whatever it holds. */
export function tokenize(text: string): Tokens {
  const tokens: Token[] = []
  let fault: string | undefined
  let at = 0
  while (at < text.length) {
    const char = text[at]!
    if (isSpace(char)) at += 1
    else if (char === '{' && !text.startsWith('{{', at)) at = readObject(at)
    else if (closing.has(char)) at = readQuoted(at)
    else if (marks.includes(char)) at = readMark(at)
    else at = readWord(at)
  }
  return { tokens, fault }

  function readMark(at: number): number {
    tokens.push({ kind: 'mark', text: text[at]! })
    return at + 1
  }

  function readQuoted(start: number): number {
    const open = text[start]!
    const ends = closing.get(open)!
    let value = ''
    for (let here = start + 1; here < text.length; here += 1) {
      const char = text[here]!
      if (char === '\\' && open === '"' && (text[here + 1] === '"' || text[here + 1] === '\\')) {
        value += text[here + 1]
        here += 1
      } else if (ends.includes(char) && !(apostrophes.has(char) && !endsQuote(text[here + 1]))) {
        if (!endsQuote(text[here + 1])) fault ??= 'I cannot tell where a quoted text ends.'
        tokens.push({ kind: 'quoted', text: value })
        return here + 1
      } else value += char
    }
    fault ??= 'A quoted text is not closed.'
    return text.length
  }

  function readWord(start: number): number {
    let end = start + 1
    while (end < text.length && !isSpace(text[end]) && !marks.includes(text[end]!)) {
      const char = text[end]!
      // As in title:"Hi" the word ends where its value begins. In other places a quote inside a word is a riddle.
      if (closing.has(char) && (text[end - 1] === ':' || !apostrophes.has(char))) {
        if (text[end - 1] !== ':') fault ??= 'A quote stands in the middle of a word.'
        break
      }
      end += 1
    }
    let stop = end
    while (stop > start && /[.:]/.test(text[stop - 1]!)) stop -= 1
    const word = text.slice(start, stop)
    if (word !== '') tokens.push({ kind: 'word', text: word, lower: word.toLowerCase().replaceAll('’', "'") })
    for (let here = stop; here < end; here += 1) readMark(here)
    return end
  }

  function readObject(start: number): number {
    const end = endOfObject(text, start)
    try {
      const value: unknown = readJson(text.slice(start, end))
      tokens.push({ kind: 'json', value: value as Record<string, unknown> })
    } catch {
      fault ??= 'What stands in braces is not JSON.'
    }
    return end
  }
}

/** The end of what begins with a brace: where the braces outside of strings are even, or the end of the text. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (inString && char === '\\') at += 1
    else if (char === '"') inString = !inString
    else if (!inString && char === '{') depth += 1
    else if (!inString && char === '}' && --depth === 0) return at + 1
  }
  return text.length
}

/** A token as it was written, for questions about it. */
export function shown(token: Token | undefined): string {
  if (token === undefined) return ''
  return token.kind === 'quoted' ? `"${token.text}"` : token.kind === 'json' ? '{…}' : token.text
}
