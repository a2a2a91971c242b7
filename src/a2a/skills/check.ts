import type { TSchema } from '@sinclair/typebox'
import { Refusal } from '../../platform/errors.ts'
import { validator } from '../../platform/http/validation.ts'
import type { Request } from '../model.ts'
import type { Outcome, Skill } from './skill.ts'
import type { Settled } from './spellings.ts'

/** The result of checking the fields of a request before it runs. */
export type Judgement = { kind: 'fit' } | { kind: 'missing'; names: string[] } | { kind: 'wrong'; reason: string }

interface ObjectSchema extends TSchema {
  properties: Record<string, TSchema>
  required?: string[]
}

/** Whether the skill knows a field of this name, in our spelling. */
export const knows = ({ schema, spellings }: Skill, name: string): boolean =>
  Object.hasOwn(schema.properties, name) || (spellings !== undefined && Object.hasOwn(spellings, name))

/** The fields of a request in the spelling of its skill, or the problems with them. */
export const settle = (skill: Skill, fields: Record<string, unknown>): Settled => skill.settle?.(fields) ?? { fields }

/** The fields of a request that its skill does not know and asks about. */
export function straysOf(skill: Skill, { fields, unknown = [] }: Pick<Request, 'fields' | 'unknown'>): string[] {
  if (!skill.asksAboutUnknown) return []
  return [...unknown, ...Object.keys(fields).filter((name) => !knows(skill, name))]
}

/** Names the fields that a skill does not know, and how to go on. Callers choose the names, so long names are cut. */
export function askAbout(skill: Skill, names: string[]): string {
  const shown = names.slice(0, mostUnknown).map((name) => JSON.stringify(name.slice(0, longestUnknown)))
  const [fields, them] = names.length === 1 ? ['the field', 'it'] : ['the fields', 'them']
  return `${skill.id} does not know ${fields} ${shown.join(', ')}. ${skill.asksAboutUnknown}; else send the whole request again without ${them}.`
}

/** The most unknown names that a request keeps; without a limit a task could grow without end. */
export const mostUnknown = 5
export const longestUnknown = 64

type Check = (value: unknown) => void

const checks = new WeakMap<Skill, { whole: Check; fields: Check[] }>()

/** The schema without `required`: the skill asks for absent fields, and only present fields can be wrong. */
function checksOf(skill: Skill): { whole: Check; fields: Check[] } {
  const known = checks.get(skill)
  if (known) return known
  const { required: _, ...given } = skill.schema as ObjectSchema
  const checking = (properties: ObjectSchema['properties']) =>
    validator({ ...given, properties } as TSchema, 'invalid_parameter')
  const fields = Object.entries(given.properties).map(([name, schema]) => checking({ [name]: schema }))
  const made = { whole: checking(given.properties), fields }
  checks.set(skill, made)
  return made
}

/** The fields of a request except the one that the skill ignores. */
export function heeded(skill: Skill, fields: Record<string, unknown>): Record<string, unknown> {
  const ignored = skill.ignores?.(fields)
  if (ignored === undefined || !Object.hasOwn(fields, ignored)) return fields
  const { [ignored]: _, ...rest } = fields
  return rest
}

export function judge(skill: Skill, given: Record<string, unknown>): Judgement {
  const checks = checksOf(skill)
  const fields = heeded(skill, given)
  if (faultOf(checks.whole, fields) !== undefined) {
    // One problem per field: a list of a million wrong targets would otherwise fill the memory.
    const faults = checks.fields.flatMap((check) => faultOf(check, fields) ?? [])
    return { kind: 'wrong', reason: faults.join('; ') }
  }
  const { required = [] } = skill.schema as ObjectSchema
  const names = required.filter((name) => !Object.hasOwn(fields, name))
  for (const group of skill.oneOf ?? [])
    if (!group.some((name) => Object.hasOwn(fields, name))) names.push(group.join(' or '))
  return names.length > 0 ? { kind: 'missing', names } : { kind: 'fit' }
}

/** Names the fields that a request lacks. */
export const askFor = (names: string[]): string =>
  `Send the missing ${names.length === 1 ? 'field' : 'fields'}: ${names.join(', and ')}.`

function faultOf(check: Check, fields: Record<string, unknown>): string | undefined {
  try {
    check(fields)
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
  return undefined
}

/**
 * The outcome of a call that a capability refuses. The refusal names the fields of the command, which agents spell the
 * same.
 */
export const rejected = ({ message }: Refusal): Outcome => ({
  kind: 'rejected',
  reason: /[.!?]$/.test(message) ? message : `${message}.`
})
