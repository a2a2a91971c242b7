import { isObject } from '../../platform/fields.ts'
import type { Request } from '../model.ts'
import { judge } from '../skills/check.ts'
import type { Skills } from '../skills/skills.ts'
import { inOurNames } from '../skills/spellings.ts'
import type { Turn } from './turn.ts'

/** The skill whose requests need a confirmation by their caller. */
export const confirmedSkill = 'trigger-campaign'

const names = ['skill', 'confirmationId', 'confirm']

/**
 * Data that names a confirmation and nothing else is a yes or a no to the facts under its id, whichever task it arrives
 * in. Undefined for all other data. `oversee` looks up the id.
 */
export function readConfirmation(data: unknown[], known: Request | undefined, skills: Skills): Turn | undefined {
  // Most data names no confirmation, and is not merged to find that out.
  if (!data.some(namesConfirmation) || !data.every(isObject)) return undefined
  const { fields, unknown, wrong } = inOurNames(Object.assign({}, ...data), (name) => names.includes(name))
  const { skill: named, confirmationId, confirm } = fields
  const skill = skills.get(confirmedSkill)
  if (!skill || unknown.length > 0 || wrong !== undefined || confirmationId === undefined) return undefined
  if (named !== undefined && named !== confirmedSkill) return undefined
  const judgement = judge(skill, fields)
  if (judgement.kind === 'wrong') {
    // An open question is asked again instead, because a misspelt answer must not end it.
    if (known?.pending !== undefined) return undefined
    const request = known ?? { skill: confirmedSkill, fields: {} }
    return { kind: 'stop', state: 'rejected', request, reason: `${judgement.reason}.` }
  }
  const request = { skill: confirmedSkill, fields: { confirmationId } }
  if (confirm === false) return refused(request)
  if (confirm === true || named !== undefined) return { kind: 'run', request, skill }
  return {
    kind: 'stop',
    state: 'input-required',
    request: known ?? request,
    reason: 'Send confirm: true beside the confirmationId to have it done, or confirm: false.'
  }
}

const namesConfirmation = (part: unknown) =>
  isObject(part) && (Object.hasOwn(part, 'confirmationId') || Object.hasOwn(part, 'confirmation_id'))

/** Whether a data part says no. */
export const saysNo = (part: unknown): boolean => isObject(part) && part.confirm === false

/** Whether data says no to a trigger, or to the question for a yes that is open. */
export const declines = ({ skill, pending }: Request, { fields }: Request): boolean =>
  fields.confirm === false &&
  (skill === confirmedSkill || (pending as { kind?: unknown } | undefined)?.kind === 'confirm')

/** The end of a task whose caller said no. */
export const refused = (request: Request): Turn => ({
  kind: 'stop',
  state: 'canceled',
  request,
  reason: 'I am not to do it, and did nothing.'
})
