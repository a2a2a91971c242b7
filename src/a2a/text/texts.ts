import { isDeepStrictEqual } from 'node:util'
import type { Request } from '../model.ts'
import { askAbout, askFor, heeded, judge, straysOf } from '../skills/check.ts'
import type { Skills } from '../skills/registry.ts'
import type { Reading, ReadText } from '../turns/reading.ts'

type Fields = Record<string, unknown>

/** How a text was read, by a function of text alone. Plain data: it is kept with the task and comes back with the answer. */
export type TextReading =
  | { kind: 'act'; skill: string; data: Fields; understood: string }
  | Asked
  | { kind: 'confirm'; skill: string; data: Fields; question: string; understood: string }
  | { kind: 'none'; question: string }
  | { kind: 'declined'; understood: string }

interface Asked {
  kind: 'ask'
  skill?: string
  data: Fields
  /** The fields that are asked for. Empty where the text as a whole is unclear. */
  missing: string[]
  question: string
  understood: string
  candidate?: string
  note?: string
}

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
        const asked = asking(reading)
        // A text that added nothing to a request in data raised no question of its own.
        return known && !known.pending && isSame(reading, pending) ? { ...asked, request: known } : asked
      }
    }
  }

const isSame = (one: TextReading, other: TextReading | undefined): boolean =>
  one.kind === 'ask' &&
  other?.kind === 'ask' &&
  isDeepStrictEqual([one.data, one.missing, one.candidate], [other.data, other.missing, other.candidate])

/** A question for a yes says itself what it is about. */
export const questionOf = ({ question, understood }: { question: string; understood: string }): string =>
  question.includes(understood) ? question : `${understood} ${question}`

/** A question, kept with what was read: the answer is read with it. */
export function asking(reading: TextReading & { kind: 'ask' | 'confirm' }): Reading & { kind: 'ask' } {
  const { skill, data } = reading
  const request = { ...(skill !== undefined && { skill }), fields: data, pending: reading }
  return { kind: 'ask', question: questionOf(reading), request }
}

/** What is asked for where one of several fields is missing. */
const askedAs = (name: string) => (!name.includes(' or ') ? name : name.startsWith('title') ? 'body' : 'target')

/** A request that came as data and lacks something: its text is an answer to what it was asked. */
function askedFor(known: Request | undefined, skills: Skills): TextReading | undefined {
  const skill = known?.skill === undefined ? undefined : skills.get(known.skill)
  if (!known || !skill) return undefined
  const data = heeded(skill, known.fields)
  const judgement = judge(skill, { ...data, skill: skill.id })
  const names = judgement.kind === 'missing' ? judgement.names : []
  const strays = straysOf(skill, known)
  const question = [names.length > 0 && askFor(names), strays.length > 0 && askAbout(skill, strays)]
  return {
    kind: 'ask',
    skill: skill.id,
    data,
    // A field that the skill does not know may have been the audience: a text has to name one.
    missing: [...names.map(askedAs), ...(strays.length > 0 ? ['audience'] : [])],
    question: question.filter(Boolean).join(' '),
    understood: ''
  }
}
