import type { TSchema } from '@sinclair/typebox'
import { Refusal } from '../../platform/errors.ts'
import { validator } from '../../platform/http/schema.ts'
import type { Outcome, Skill } from './skill.ts'

/** What is to be said of the fields of a request before it is run. */
export type Judgement = { kind: 'fit' } | { kind: 'missing'; names: string[] } | { kind: 'wrong'; reason: string }

interface ObjectSchema extends TSchema {
  properties: Record<string, TSchema>
  required?: string[]
}

const checks = new WeakMap<Skill, (value: unknown) => void>()

/** Without `required`: what is absent is asked for, only what is there can be wrong. */
function checkOf(skill: Skill): (value: unknown) => void {
  const known = checks.get(skill)
  if (known) return known
  const { required: _, ...given } = skill.schema as ObjectSchema
  const check = validator(given as TSchema, 'invalid_parameter')
  checks.set(skill, check)
  return check
}

export function judge(skill: Skill, fields: Record<string, unknown>): Judgement {
  try {
    checkOf(skill)(fields)
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'wrong', reason: error.message }
    throw error
  }
  const { required = [] } = skill.schema as ObjectSchema
  const names = required.filter((name) => !Object.hasOwn(fields, name))
  if (skill.oneOf && !skill.oneOf.some((name) => Object.hasOwn(fields, name))) names.push(skill.oneOf.join(' or '))
  return names.length > 0 ? { kind: 'missing', names } : { kind: 'fit' }
}

const camel = new Map([
  ['project_user_id', 'projectUserId'],
  ['device_id', 'deviceId'],
  ['user_id', 'userId'],
  ['campaign_id', 'campaignId'],
  ['image_url', 'imageUrl'],
  ['landing_url', 'landingUrl']
])

/** What a capability refuses is not done. */
export const rejected = (refusal: Refusal): Outcome => {
  const reason = inAgentWords(refusal.message)
  return { kind: 'rejected', reason: /[.!?]$/.test(reason) ? reason : `${reason}.` }
}

/** A refusal of a capability, in the names that agents use. */
const inAgentWords = (message: string): string =>
  message
    .replace(/^(push_notifications|events)\[0\]\.(target\.)?/, '')
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => camel.get(name) ?? name)
