import { piecesOf, textOf } from './trigger-reference.ts'

/** Code points that one reference may insert into a pattern. */
const insertedLength = 256

/**
 * Quotes a text of a trigger, so that it is matched literally: as an expression it could fail in the middle of a broadcast
 * or be slow on purpose. Each character that could have a meaning is written as its code point.
 */
const literally = (text: string) =>
  `(?:${[...text].map((sign) => (/[0-9A-Za-z]/.test(sign) ? sign : escaped(sign))).join('')})`

function escaped(sign: string): string {
  const number = sign.codePointAt(0)!.toString(16)
  return number.length > 4 ? `\\U${number.padStart(8, '0')}` : `\\u${number.padStart(4, '0')}`
}

/** Replaces the references of a pattern by the values that `find` returns; undefined when one is missing or too long. */
export function fillPattern(
  pattern: string,
  find: (reference: { path: readonly string[] }) => unknown
): string | undefined {
  let filled = ''
  for (const piece of piecesOf(pattern) ?? [pattern]) {
    if (typeof piece === 'string') filled += piece
    else {
      const value = find(piece)
      const text = value === undefined ? undefined : textOf(value)
      if (text === undefined || text.length > insertedLength * 2 || [...text].length > insertedLength) return undefined
      filled += literally(text)
    }
  }
  return filled
}

/** The shortest and the longest texts a trigger can insert, with all special characters: if these pass, all do. */
const signs = [...'aZ09 .*+?()[]{}|^$\\-:=!#<>/"\'\n\té漢🧑']
const samples = ['', 'x', Array.from({ length: insertedLength }, (_, index) => signs[index % signs.length]).join('')]

export const samplePatterns = (pattern: string): string[] => [
  ...new Set(samples.map((sample) => fillPattern(pattern, () => sample)!))
]
