import { fill } from './answers.ts'
import { isRefusal, isYes, readCommand } from './command.ts'
import { createCursor } from './cursor.ts'
import { propose } from './proposal.ts'
import { asData, declined, nothingRead, type Reading, tooLong } from './reading.ts'
import type { Data, SkillText } from './skill-text.ts'
import { type Tokens, tokenize } from './tokens.ts'
import { createVocabulary, textOf, type Vocabulary } from './vocabulary.ts'
import { negations } from './words.ts'

/** Longer texts are not read: everything a push may say is shorter. */
export const longestText = 4_000

export type Grammar = ReturnType<typeof createGrammar>

/** Reads texts that ask for one of these skills. No model and no network: the same text always has the same reading. */
export function createGrammar(texts: readonly SkillText[]) {
  const vocabulary = createVocabulary(texts)
  return {
    /**
     * What an agent's or a person's text asks for. The reading is `act` only if every word of the text has its place in
     * it; else it is a question. `pending` is the reading that led to the question which this text answers.
     */
    read: (text: string, context: { pending?: Reading } = {}): Reading =>
      context.pending ? answer(vocabulary, context.pending, text) : readAlone(vocabulary, text),
    /** Goes on with a question. A new order in the place of an answer counts as an order. */
    answer: (previous: Reading, text: string): Reading => answer(vocabulary, previous, text),
    /**
     * Whether a text that the grammar does not read may be given to another reader. Texts that hold a negation, however
     * they go on, and texts that are only a yes or a no may not.
     */
    mayBeGuessed: (text: string): boolean => mayBeGuessed(vocabulary, text),
    /** A request that another reader made of a text, as a question for a yes; see `propose`. */
    propose: (skill: string, data: Data) => propose(textOf(vocabulary, skill), data)
  }
}

function readAlone(vocabulary: Vocabulary, text: string): Reading {
  const split = splitOf(vocabulary, text)
  if ('kind' in split) return split
  if (/^\s*(?:```\w*\s*)?\{(?!\{)/.test(text)) return asData
  const reading = readCommand(createCursor(split.tokens, vocabulary))
  const skill = 'skill' in reading ? textOf(vocabulary, reading.skill) : undefined
  if (split.fault === undefined || !skill) return reading
  const question = `${split.fault} Please write it again.`
  return { kind: 'ask', skill: skill.skill, data: {}, missing: [], question, understood: skill.describe({}, true) }
}

/** The tokens of a text, or why there is nothing to read. */
function splitOf(vocabulary: Vocabulary, text: string): Tokens | Reading {
  if (text.length > longestText) return tooLong
  if (text.includes('\0') || !isWellFormed(text)) return nothingRead(vocabulary.texts)
  const split = tokenize(text)
  return split.tokens.length === 0 ? nothingRead(vocabulary.texts) : split
}

/** A text with half of a character that takes two cannot be stored, so it is not read. */
const isWellFormed = (text: string) => !/\p{Cs}/u.test(text)

function answer(vocabulary: Vocabulary, previous: Reading, text: string): Reading {
  if (previous.kind !== 'ask' && previous.kind !== 'confirm') return readAlone(vocabulary, text)
  const split = splitOf(vocabulary, text)
  if ('kind' in split || split.fault !== undefined) return again(previous)
  const cursor = createCursor(split.tokens, vocabulary)
  if (isRefusal(cursor)) return declined
  if (previous.kind === 'confirm' && isYes(cursor)) {
    const { skill, data, understood } = previous
    return { kind: 'act', skill, data, understood }
  }
  const fresh = () => readAlone(vocabulary, text)
  const filled = previous.kind === 'ask' ? fill(previous, cursor, text, fresh) : undefined
  if (filled) return filled
  const order = fresh()
  return order.kind === 'none' ? again(previous) : order
}

function again<Asked extends Reading & { question: string }>(previous: Asked): Asked {
  const said = 'I did not understand that. '
  return previous.question.startsWith(said) ? previous : { ...previous, question: said + previous.question }
}

function mayBeGuessed(vocabulary: Vocabulary, text: string): boolean {
  const split = splitOf(vocabulary, text)
  if ('kind' in split || !/\p{L}/u.test(text)) return false
  const cursor = createCursor(split.tokens, vocabulary)
  if (isYes(cursor) || isRefusal(cursor)) return false
  return split.tokens.every((token) => token.kind !== 'word' || !negations.has(token.lower))
}
