import { compile, type Run, type State, type Step } from './pattern.ts'
import { nothingRead, type Reading, tooLong } from './reading.ts'
import * as shared from './rules.ts'
import type { Form, Need, SkillText } from './skill-text.ts'
import { createSlots } from './slots.ts'
import { type Token, type Tokens, tokenize } from './tokens.ts'

/** Longer texts are not read: everything a push may say is shorter. */
export const longestText = 4_000

/** All that a grammar can read. */
export interface Forms {
  texts: readonly SkillText[]
  forms: readonly { text: SkillText; form: Form; step: Step }[]
  /** How an answer to a question is read: in full, and as the name alone. */
  answers: ReadonlyMap<Need, { full: Step; bare: Step | undefined }>
  /** The first words of the forms, without the e that `creating` has not. */
  stems: readonly string[]
  rules: Record<keyof typeof shared.texts, Step>
}

export function compileForms(texts: readonly SkillText[]): Forms {
  const taken = new Set<string>()
  const notation = { rules: shared.rules, flags: shared.flags, slots: createSlots(taken) }
  const compiled = (pattern: string, words = new Set<string>()) => compile(pattern, notation, words)
  const forms = texts.flatMap((text) => text.forms.map((form) => ({ text, form })))
  const answers = texts.flatMap(({ needs }) => needs)
  return {
    texts,
    forms: forms.map((one) => ({ ...one, step: compiled(`${one.form.pattern} ${shared.after}`, taken) })),
    answers: new Map(
      answers.map((need) => [
        need,
        {
          full: compiled(`${need.answer} [.|!]`),
          bare: need.bare && compiled(`[it is | it's | use] <${need.fields[0]}> [.|!]`)
        }
      ])
    ),
    stems: forms.flatMap(({ form }) => form.pattern.split(' ')[0]!.split('|')).map((verb) => verb.replace(/e$/, '')),
    rules: Object.fromEntries(
      Object.entries(shared.texts).map(([name, pattern]) => [name, compiled(pattern)])
    ) as Forms['rules']
  }
}

export const textOf = ({ texts }: Pick<Forms, 'texts'>, skill: string | undefined): SkillText | undefined =>
  texts.find((text) => text.skill === skill)

export const begin = (tokens: readonly Token[]): Run => ({ tokens, furthest: 0, because: undefined })
const start = (at = 0): State => ({ at, found: undefined })

/** The ways in which a step reads all of the tokens. */
export const wholes = (run: Run, step: Step, at = 0): State[] =>
  step(run, start(at)).filter((state) => state.at === run.tokens.length)

export const isAll = (step: Step, tokens: readonly Token[]): boolean => wholes(begin(tokens), step).length > 0

/** The longest beginning that a step reads. */
export const longest = (step: Step, tokens: readonly Token[], at = 0): State =>
  step(begin(tokens), start(at)).reduce((one, other) => (other.at > one.at ? other : one), start(at))

/** The tokens of a text, or why there is nothing to read. */
export function splitOf({ texts }: Forms, text: string): Tokens | Reading {
  if (text.length > longestText) return tooLong
  // Half of a character that takes two cannot be stored.
  if (text.includes('\0') || /\p{Cs}/u.test(text)) return nothingRead(texts)
  const split = tokenize(text)
  return split.tokens.length === 0 ? nothingRead(texts) : split
}
