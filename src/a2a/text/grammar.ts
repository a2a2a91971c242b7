import { answer } from './answers.ts'
import { compileForms, isAll, longestText, splitOf, textOf } from './forms.ts'
import { readOrder } from './orders.ts'
import { propose } from './proposal.ts'
import type { Reading } from './reading.ts'
import type { Data, SkillText } from './skill-text.ts'
import { negates } from './words.ts'

export { longestText }

export type Grammar = ReturnType<typeof createGrammar>

/** Reads texts that ask for one of these skills. No model and no network: the same text always has the same reading. */
export function createGrammar(texts: readonly SkillText[]) {
  const forms = compileForms(texts)
  return {
    /**
     * What an agent's or a person's text asks for. The reading is `act` only if the whole of the text is one of the
     * published forms. `pending` is the reading that led to the question which this text answers.
     */
    read: (text: string, context: { pending?: Reading } = {}): Reading =>
      context.pending ? answer(forms, context.pending, text) : readOrder(forms, text),
    /** Goes on with a question. A new order in the place of an answer counts as an order. */
    answer: (previous: Reading, text: string): Reading => answer(forms, previous, text),
    /**
     * Whether a text that the grammar does not read may be given to another reader. Texts that hold a negation, however
     * they go on, and texts that are only a yes or a no may not.
     */
    mayBeGuessed(text: string): boolean {
      const split = splitOf(forms, text)
      if ('kind' in split || !/\p{L}/u.test(text)) return false
      const { tokens } = split
      if (isAll(forms.rules.yes, tokens) || isAll(forms.rules.no, tokens)) return false
      return !negates(tokens)
    },
    /** A request that another reader made of a text, as a question for a yes; see `propose`. */
    propose: (skill: string, data: Data) => propose(textOf(forms, skill), data)
  }
}
