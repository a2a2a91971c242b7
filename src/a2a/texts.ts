import type { Request } from './model.ts'
import { heeded, judge } from './skills/check.ts'
import type { Skills } from './skills/registry.ts'
import type { ReadText } from './turns.ts'

type Fields = Record<string, unknown>

/** How a text was read, by a function of text alone. Plain data: it is kept with the task and comes back with the answer. */
export type TextReading =
  | { kind: 'act'; skill: string; data: Fields; understood: string }
  | { kind: 'ask'; skill?: string; data: Fields; missing: string[]; question: string; understood: string }
  | { kind: 'confirm'; skill: string; data: Fields; question: string; understood: string }
  | { kind: 'none'; question: string }
  | { kind: 'declined'; understood: string }

/**
 * Makes a reader of texts for tasks of one that knows nothing but a text and the question it answers. `elsewhere` is
 * tried on what the first does not understand at all.
 */
export const readBy =
  <Read extends TextReading>(
    read: (text: string, context: { pending?: Read }) => Read,
    elsewhere?: (text: string) => Promise<TextReading | undefined>
  ): ReadText =>
  async (text, { skills, known }) => {
    const pending = (known?.pending ?? askedFor(known, skills)) as Read | undefined
    const first: TextReading = read(text, pending === undefined ? {} : { pending })
    const reading = first.kind === 'none' ? ((await elsewhere?.(text)) ?? first) : first
    switch (reading.kind) {
      case 'act':
        return { kind: 'request', skill: reading.skill, fields: reading.data, understood: reading.understood }
      case 'declined':
        return reading
      case 'none':
        return { kind: 'ask', question: reading.question, ...(known && { request: known }) }
      default: {
        // A question for a yes says itself what it is about.
        const asked = reading.question.includes(reading.understood)
        const question = `${asked ? '' : reading.understood} ${reading.question}`.trim()
        const request = {
          ...(reading.skill !== undefined && { skill: reading.skill }),
          fields: reading.data,
          pending: reading,
          ...(reading.kind === 'confirm' && { confirm: question })
        }
        return { kind: 'ask', question, request }
      }
    }
  }

/** What is asked for where one of several fields is missing. */
const askedAs = (name: string) => (!name.includes(' or ') ? name : name.startsWith('title') ? 'body' : 'target')

/** A request that came as data and lacks something: its text is an answer to what it was asked. */
function askedFor(known: Request | undefined, skills: Skills): TextReading | undefined {
  const skill = known?.skill === undefined ? undefined : skills.get(known.skill)
  if (!known || !skill) return undefined
  const data = heeded(skill, known.fields)
  const judgement = judge(skill, { ...data, skill: skill.id })
  const missing = judgement.kind === 'missing' ? judgement.names.map(askedAs) : []
  return { kind: 'ask', skill: skill.id, data, missing, question: '', understood: '' }
}
