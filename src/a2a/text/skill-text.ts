import type { Phrases, Words } from './phrases.ts'

export type Data = Record<string, unknown>

/** How texts ask for one skill: its words, what it can hold, and the sentence that says what it would do. */
export interface SkillText {
  /** The id of the skill. */
  skill: string
  /** The agent's offer where it understands nothing, in the order of `place`. The example is a text that works. */
  offer: { place: number; does: string; example: string }
  /** Verbs that ask for it when one of its nouns follows. */
  verbs: Phrases
  /** Verbs that ask for it without a noun. */
  bareVerbs?: Phrases
  /** Other forms of its verbs (`creating`). They mark a second order in a text. */
  verbForms: Words
  nouns: Phrases
  /** Nouns that ask for several at once, which no text can. */
  plurals?: Words
  /** Says so. */
  oneAtATime?: string
  /** Never an id or the name of a property unless quoted. */
  reserved?: Words
  /** Orders without a verb, up to and with the noun: `new user`. */
  shortcuts?: Phrases
  /** Bare verbs that may report something when a colon follows: `Alert: …`. */
  telling?: Words
  /** The field that names what the skill acts on. Absent: the noun may come late, as in "send ana a push". */
  name?: NameText
  /** Texts that the skill carries. */
  content?: ContentText
  /** Its recipients: none, one user or device, or many. */
  audience: 'none' | 'one' | 'many'
  /** Whether it takes properties. */
  properties: boolean
  /** Whether a word that is a noun elsewhere is one after this verb. */
  isNoun?(verb: string, noun: string): boolean
  /** The meaning that the verb adds. */
  verbMeans?(verb: string): VerbMeaning | undefined
  /** Says in one sentence what would be done. `open`: the text has not said for whom. */
  describe(data: Data, open: boolean): string
}

export interface NameText {
  field: string
  /** Names by which a text may give it: `campaignId=welcome`. In lower case. */
  keys: Words
  question: string
  /** A user's id is no verb, never stands before its noun, and is not the user's name. Events and campaigns are freer. */
  isUserId: boolean
  /** Words between the noun and the name: `user account ana`. */
  between?: Words
}

export interface ContentText {
  /** The fields with the word that a description uses for each, in the order in which they are described. */
  fields: ReadonlyMap<string, string>
  /** At least one of these must be given. */
  oneOf: readonly string[]
  /** The field that is asked for when all of `oneOf` are missing, and that a quoted text without a name fills. */
  main: string
  question: string
  /** The words people use for a field, before its value. */
  phrases: readonly (readonly [phrase: readonly string[], field: string])[]
  /** Names by which a text may give a field: `title=…`. In lower case. */
  keys: ReadonlyMap<string, string>
  /** Fields that hold an address, with its form. */
  addresses: ReadonlyMap<string, RegExp>
  /** Two texts were given for one field. */
  twice(field: string): string
  /** Asks for quotes around a text. */
  quote: string
  /** A name that is no field. `listed`: it is the last of a list, as in `to ana and bo: "Hi"`. */
  noField(key: string, listed: boolean): string
}

export interface VerbMeaning {
  everyone?: true
  /** Asks for a yes, and says why. */
  note?: string
  /** Asks for properties when none are given. */
  needsProperties?: string
}
