import { isDeepStrictEqual } from 'node:util'
import type { Request } from '../model.ts'
import { askAbout, askFor, heeded, judge, straysOf } from '../skills/check.ts'
import type { Skill } from '../skills/skill.ts'
import type { Skills } from '../skills/skills.ts'
import type { Reading } from '../text/reading.ts'
import type { Meaning, ReadText } from './meaning.ts'

/**
 * Makes a reader for tasks from a reader that knows only a text and the question it answers. `elsewhere` reads texts
 * that the first reader does not understand at all.
 */
export const readBy =
  (
    read: (text: string, context: { pending?: Reading }) => Reading,
    elsewhere?: (text: string) => Promise<Reading | undefined>
  ): ReadText =>
  async (text, { skills, known }) => {
    const pending = (known?.pending ?? askedFor(known, skills)) as Reading | undefined
    const first = read(text, pending === undefined ? {} : { pending })
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

const isSame = (one: Reading, other: Reading | undefined): boolean =>
  one.kind === 'ask' &&
  other?.kind === 'ask' &&
  isDeepStrictEqual([one.data, one.missing, one.candidate], [other.data, other.missing, other.candidate])

/** A question for a yes already restates the request; other questions begin with the understood part. */
export const questionOf = ({ question, understood }: { question: string; understood: string }): string =>
  question.includes(understood) ? question : `${understood} ${question}`

/** A question, stored with the reading that raised it, because the answer is read together with it. */
export function asking(reading: Reading & { kind: 'ask' | 'confirm' }): Meaning & { kind: 'ask' } {
  const { skill, data } = reading
  const request = { ...(skill !== undefined && { skill }), fields: data, pending: reading }
  return { kind: 'ask', question: questionOf(reading), request }
}

/** The name under which texts ask for a field, or for one of several fields. */
function askedAs({ text }: Skill, name: string): string {
  const names = name.split(' or ')
  return text?.needs.find(({ fields }) => names.every((one) => fields.includes(one)))?.asked ?? name
}

/** The question about a request that came as data and lacks fields. The text answers it. */
function askedFor(known: Request | undefined, skills: Skills): Reading | undefined {
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
    // The unknown field may have been meant as the audience, so a text has to name one.
    missing: [...names.map((name) => askedAs(skill, name)), ...(strays.length > 0 ? ['audience'] : [])],
    question: question.filter(Boolean).join(' '),
    understood: ''
  }
}
