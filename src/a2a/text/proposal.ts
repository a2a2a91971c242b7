import { isDeepStrictEqual } from 'node:util'
import { isRefusal, isYes } from './command.ts'
import { createCursor } from './cursor.ts'
import { conclude, draftOf } from './draft.ts'
import { splitOf } from './grammar.ts'
import type { Data, Reading, Skill } from './reading.ts'
import { negations } from './words.ts'

const skills: ReadonlySet<string> = new Set<Skill>([
  'create-user',
  'track-event',
  'send-push-notification',
  'trigger-campaign'
])

/** What can be put into words, and so be asked about. */
export const isDescribable = (skill: string): skill is Skill => skills.has(skill)

/**
 * Whether a text that the grammar does not read may be given to another reader. One that forbids something may not,
 * however it goes on, nor one that is only a yes or a no.
 */
export function mayBeGuessed(text: string): boolean {
  const split = splitOf(text)
  if ('kind' in split || !/\p{L}/u.test(text)) return false
  const cursor = createCursor(split.tokens)
  if (isYes(cursor) || isRefusal(cursor)) return false
  return split.tokens.every((token) => token.kind !== 'word' || !negations.has(token.lower))
}

/** Whether a target is all that is said of it: one field, and no other. */
export const isShown = (target: object): boolean => /^(projectUserId|deviceId|userId)$/.test(Object.keys(target).join())

/**
 * A request that something else made of a text, as a question for a yes. Undefined where it is not whole, or holds
 * anything that the question would not show.
 */
export function propose(skill: string, data: Data): (Reading & { kind: 'confirm' }) | undefined {
  if (!isDescribable(skill)) return undefined
  const draft = draftOf(skill, data)
  if (!draft.targets.every(isShown)) return undefined
  draft.defaultAudience = skill === 'trigger-campaign' && draft.targets.length === 0 && !draft.everyone
  const reading = conclude(draft, true)
  if (reading.kind !== 'confirm' || !isDeepStrictEqual(reading.data, data)) return undefined
  return { ...reading, question: `I understood: ${reading.understood} Shall I do it? Say yes or no.` }
}
