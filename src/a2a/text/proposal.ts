import { isDeepStrictEqual } from 'node:util'
import { conclude, draftOf, targetsOf } from './draft.ts'
import type { Reading } from './reading.ts'
import type { Data, SkillText } from './skill-text.ts'

/** Whether a description shows all of a target: it has one known field and no other. */
export const isShown = (target: object): boolean => /^(projectUserId|deviceId|userId)$/.test(Object.keys(target).join())

/**
 * A request that another reader made of a text, as a question for a yes. Undefined where the request is incomplete or
 * holds anything that the question would not show.
 */
export function propose(text: SkillText | undefined, data: Data): (Reading & { kind: 'confirm' }) | undefined {
  if (!text) return undefined
  const draft = draftOf(text, data)
  const targets = targetsOf(draft)
  if (!targets.every(isShown)) return undefined
  draft.defaultAudience = text.many === true && targets.length === 0 && draft.data.broadcast !== true
  const reading = conclude(draft, true)
  if (!('data' in reading) || reading.kind === 'ask' || !isDeepStrictEqual(reading.data, data)) return undefined
  const { skill, understood } = reading
  return {
    kind: 'confirm',
    skill,
    data,
    understood,
    question: `I understood: ${understood} Shall I do it? Say yes or no.`
  }
}
