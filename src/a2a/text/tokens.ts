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
const trailing = new Set([',', ';', '.', '!', '?', ':', ')'])
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
    else if (char === '{' && isObjectStart(text, at)) at = readJson(at)
    else if (closing.has(char)) at = readQuoted(at)
    else if (trailing.has(char) || char === '(') {
      tokens.push({ kind: 'mark', text: char })
      at += 1
    } else at = readWord(at)
  }
  return { tokens, fault }

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
    let end = start
    while (end < text.length && !isSpace(text[end])) {
      const char = text[end]!
      // As in title="Hi": the word ends where its value begins. In other places a quote inside a word is a riddle.
      if (closing.has(char) && !apostrophes.has(char)) {
        if (!/[=:]/.test(text[end - 1] ?? '')) fault ??= 'A quote stands in the middle of a word.'
        break
      }
      if (apostrophes.has(char) && /[=:]/.test(text[end - 1] ?? '')) break
      end += 1
    }
    const marks: Token[] = []
    let stop = end
    while (stop > start + 1 && trailing.has(text[stop - 1]!)) {
      stop -= 1
      marks.unshift({ kind: 'mark', text: text[stop]! })
    }
    const word = text.slice(start, stop)
    // Invisible characters could hide a "not".
    if (/[\p{Cc}\p{Cf}\p{Cs}]/u.test(word)) fault ??= 'The text holds invisible characters.'
    for (const part of inParts(word))
      tokens.push({ kind: 'word', text: part, lower: part.toLowerCase().replaceAll('’', "'") })
    tokens.push(...marks)
    return end
  }

  function readJson(start: number): number {
    const end = endOfObject(text, start)
    try {
      const value: unknown = JSON.parse(text.slice(start, end))
      tokens.push({ kind: 'json', value: value as Record<string, unknown> })
    } catch {
      fault ??= 'What stands in braces is not JSON.'
    }
    return end
  }
}

const isObjectStart = (text: string, at: number) => !text.startsWith('{{', at)

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

/** `a=1,b=2` is two words. Other commas stay inside a word, which then is no id without a question. */
function inParts(word: string): string[] {
  const parts = word.split(',')
  return parts.length > 1 && parts.every((part) => /^[^=:]+=[^=]/.test(part)) ? parts : [word]
}
