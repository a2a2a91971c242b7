export type Data = Record<string, unknown>

/** How texts ask for one skill: its forms, what it needs, and the sentence that says what it would do. */
export interface SkillText {
  /** The id of the skill. */
  skill: string
  /** The agent's offer where it understands nothing: "I can …". */
  does: string
  /** The published forms. A text that is none of them, from its first to its last word, is not acted upon. */
  forms: readonly Form[]
  /** What it cannot do without, in the order in which it is asked for. */
  needs: readonly Need[]
  /** Whether it only looks: then it may look at everyone without a yes. */
  reads?: true
  /** Recipients are a list of targets instead of one user or device. */
  many?: true
  /** The fields that `describe` shows. A request with others cannot be proposed. */
  shows: readonly string[]
  /** Says in one sentence what would be done. `open`: the text has not said for whom. */
  describe(data: Data, open: boolean): string
}

export interface Form {
  /** In the notation of `pattern.ts`. It begins with its verbs. */
  pattern: string
  example: string
  /** Why it is a proposal, which needs a yes. Absent: it is done at once. */
  because?: string
}

export interface Need {
  /** The name under which it is asked for. */
  asked: string
  /** The fields of which one is enough. */
  fields: readonly string[]
  question: string
  /** The pattern of an answer. */
  answer: string
  /** Whether the bare name is an answer, too. */
  bare?: true
}

export const target: Need = {
  asked: 'target',
  fields: ['projectUserId', 'deviceId', 'userId'],
  question: 'For which user or which device? Say for example: user ana, or: device ana-phone.',
  answer: "[it is | it's] [for|to|on] <target>"
}

export const audience: Need = {
  asked: 'audience',
  fields: ['targets', 'broadcast'],
  question: 'For whom? Say for example: user ana, device ana-phone, everyone, or: the default audience.',
  answer: "[it is | it's] [for|to] (<audience> | <candidate>)"
}

/**
 * The need for a name of its own kind. `noun` may stand before it, and the words by which it is called: a user has an id, and
 * its name is a property.
 */
export const nameOf = (field: string, noun: string, called: string, question: string): Need => ({
  asked: field,
  fields: [field],
  question,
  answer: `[it is | it's | use] ([the|a] ${noun} [[with] [the] ${called}] [:|=] | with [the] ${called} | [the] ${called} [is|:|=]) <${field}>`,
  bare: true
})
