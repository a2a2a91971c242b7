import type { Token } from './tokens.ts'
import type { Vocabulary } from './vocabulary.ts'
import { negations } from './words.ts'

/**
 * Characters by which a word may mean something else: a list, a property, a gap to be filled, "ana's phone", a name in
 * bold or with a dash, a smile or a foreign full stop after it. In quotes they are fine.
 */
const riddle = /[,;=:"{}<>[\]'’*…–—]|--|^[$%#@\\]|[。，！？、；：]$|\p{Extended_Pictographic}|^[^\p{L}\p{N}]+$/u

/** Looks at the tokens of a text by their place. */
export function createCursor(tokens: readonly Token[], vocabulary: Vocabulary) {
  const word = (at: number): string | undefined => {
    const token = tokens[at]
    return token?.kind === 'word' ? token.lower : undefined
  }
  const isMark = (at: number, marks: string): boolean => {
    const token = tokens[at]
    return token?.kind === 'mark' && marks.includes(token.text)
  }
  const phraseAt = (at: number, phrase: readonly string[]): boolean =>
    phrase.every((expected, index) => word(at + index) === expected)

  return {
    vocabulary,
    length: tokens.length,
    /** A question mark counts anywhere: "Create user ana?!" asks, too. */
    isQuestion: tokens.some((token) => token.kind === 'mark' && token.text === '?'),
    token: (at: number): Token | undefined => tokens[at],
    word,
    isMark,
    /** The number of words in the longest phrase that stands here; 0 if none does. */
    phrase: (at: number, phrases: readonly (readonly string[])[]): number =>
      phrases.find((phrase) => phraseAt(at, phrase))?.length ?? 0,
    phraseAt,
    skipMarks(at: number, marks = ',;.!?:()'): number {
      let here = at
      while (isMark(here, marks)) here += 1
      return here
    },
    skipWords(at: number, words: ReadonlySet<string>): number {
      let here = at
      while (words.has(word(here) ?? '')) here += 1
      return here
    },
    /** The name or id that stands here, quoted or as a single plain word; undefined if it cannot be one. */
    value(at: number): string | undefined {
      const token = tokens[at]
      if (token?.kind === 'quoted') return token.text.trim() === '' ? undefined : token.text
      if (token?.kind !== 'word' || vocabulary.notAnId.has(token.lower) || negations.has(token.lower)) return undefined
      return riddle.test(token.text) ? undefined : token.text
    },
    /** The token as it was written, for questions about it. */
    shown(at: number): string {
      const token = tokens[at]
      if (token === undefined) return ''
      return token.kind === 'quoted' ? `"${token.text}"` : token.kind === 'json' ? '{…}' : token.text
    }
  }
}

export type Cursor = ReturnType<typeof createCursor>
