import type { Words } from './phrases.ts'
import type { SkillText } from './skill-text.ts'
import * as shared from './words.ts'

export interface Verb {
  words: readonly string[]
  /** The skills that it can ask for, by the noun that follows. */
  texts: readonly SkillText[]
  /** The skill that it asks for without a noun. */
  bare: SkillText | undefined
}

/** The words of all skills together, beside those that every text shares. */
export interface Vocabulary {
  texts: readonly SkillText[]
  /** The longest first. */
  verbs: readonly Verb[]
  /** Everything by which a verb can be recognized, of the skills and the commonest others. */
  verbForms: Words
  notAnId: Words
  notAKey: Words
  plurals: Words
  /** Nouns that end a list of ids. */
  endsList: Words
}

export function createVocabulary(texts: readonly SkillText[]): Vocabulary {
  const reserved = texts.flatMap((text) => [...(text.reserved ?? [])])
  return {
    texts,
    verbs: verbsOf(texts),
    verbForms: new Set([...shared.otherVerbs, ...texts.flatMap(formsOf)]),
    notAnId: new Set([...shared.notAnId, ...reserved]),
    notAKey: new Set([...shared.notAKey, ...reserved]),
    plurals: new Set([...shared.targetPlurals, ...texts.flatMap((text) => [...(text.plurals ?? [])])]),
    endsList: new Set([
      ...shared.userNouns,
      ...shared.deviceNouns,
      ...texts.flatMap((text) => (text.audience === 'many' ? text.nouns.flat() : []))
    ])
  }
}

const formsOf = ({ skill, verbs, verbForms }: SkillText): string[] => [
  skill,
  ...verbs.map(([first]) => first!),
  ...verbForms
]

function verbsOf(texts: readonly SkillText[]): Verb[] {
  const all = new Map(texts.flatMap(({ verbs }) => verbs.map((verb) => [verb.join(' '), verb] as const)))
  const has = (text: SkillText, phrase: string, list = text.verbs) => list.some((verb) => verb.join(' ') === phrase)
  return [...all]
    .map(([phrase, verb]) => ({
      words: verb,
      texts: texts.filter((text) => has(text, phrase)),
      bare: texts.find((text) => has(text, phrase, text.bareVerbs ?? []))
    }))
    .sort((one, other) => other.words.length - one.words.length)
}

/** The skill that a text or a stored reading names by its id. */
export const textOf = ({ texts }: Vocabulary, skill: string | undefined): SkillText | undefined =>
  texts.find((text) => text.skill === skill)
