import type { Data, Form, SkillText } from './skill-text.ts'

/** How a text was read. Plain data: it is stored with the task and comes back with the next text. */
export type Reading =
  | { kind: 'act'; skill: string; data: Data; understood: string }
  | {
      kind: 'ask'
      skill?: string
      data: Data
      /** The fields that are asked for. Empty where the text as a whole is unclear. */
      missing: string[]
      question: string
      understood: string
      /** An id that may be a user's or a device's. */
      candidate?: string
      /** Why the complete request still needs a yes. */
      note?: string
    }
  | { kind: 'confirm'; skill: string; data: Data; question: string; understood: string }
  | { kind: 'none'; question: string }
  | { kind: 'declined'; understood: string }

/** Offers what the skills can do, with an example of each. */
export function nothingRead(texts: readonly SkillText[]): Reading {
  const does = texts.map((text) => text.does)
  const listed = does.length > 1 ? `${does.slice(0, -1).join(', ')} and ${does.at(-1)}` : does.join('')
  const examples = texts.flatMap(({ forms: [first] }) => (first ? `${first.example}.` : [])).join(' ')
  return { kind: 'none', question: `I did not understand that. I can ${listed}. For example: ${examples}` }
}

const nothingDone = 'Nothing was done.'

/** Asks for a text again that begins like this form and is none as a whole. */
export function unclear({ text, form }: { text: SkillText; form: Form }, because: string): Reading {
  const question = `${because} Please say it as in: ${form.example}.`
  return { kind: 'ask', skill: text.skill, data: {}, missing: [], question, understood: nothingDone }
}

export const tooLong: Reading = {
  kind: 'none',
  question: 'The text is too long to be read. Send what you want as a data part, with the field skill.'
}
export const asData: Reading = {
  kind: 'none',
  question:
    'This is JSON in a text. Send it as a data part: {"data": {"skill": "create-user", "projectUserId": "ana"}}.'
}
export const unclearNo: Reading = {
  kind: 'ask',
  data: {},
  missing: [],
  question:
    'I cannot tell what the "no" or "not" in it is about, and I wait for no condition. Please say only what is to be done.',
  understood: nothingDone
}
export const declined: Reading = { kind: 'declined', understood: 'I am not to do it, and did nothing.' }
