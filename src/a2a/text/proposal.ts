import { isDeepStrictEqual } from 'node:util'
import { conclude, draftOf } from './draft.ts'
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
  if (!draft.targets.every(isShown)) return undefined
  draft.defaultAudience = text.audience === 'many' && draft.targets.length === 0 && !draft.everyone
  const reading = conclude(draft, true)
  if (reading.kind !== 'confirm' || !isDeepStrictEqual(reading.data, data)) return undefined
  return { ...reading, question: `I understood: ${reading.understood} Shall I do it? Say yes or no.` }
}
