import { isObject } from '../../platform/fields.ts'
import { AgentError, invalid } from '../errors.ts'
import type { Request } from '../model.ts'
import { knows, longestUnknown, mostUnknown } from '../skills/check.ts'
import type { Skill } from '../skills/skill.ts'
import type { Skills } from '../skills/skills.ts'
import { inOurNames } from '../skills/spellings.ts'

type Fields = Record<string, unknown>

/** The fields that name the recipients of a campaign, in any spelling. */
const audienceFields = ['audience', 'broadcast', 'targets', 'target']
const mostFields = 10 * 1024 * 1024

const namesSkill = (part: unknown) => isObject(part) && part.skill !== undefined && part.skill !== null

/**
 * Only values of fields that a skill knows are kept from message to message; otherwise a task would grow without end.
 */
function meant(name: string, skills: Skills): boolean {
  for (const skill of skills.values()) if (knows(skill, name)) return true
  return false
}

export function refuseLarge(fields: unknown): void {
  if (JSON.stringify(fields).length > mostFields)
    throw invalid('message.parts', 'with what was sent before, the request is too large')
}

/** Merges the data of a message with the request of the messages before. */
export function mergedRequest(data: unknown[], known: Request | undefined, skills: Skills): Request {
  const named = data.filter(namesSkill)
  if (named.length > 1) throw invalid('message.parts', 'only one data part may name a skill')
  const skill = (named[0] as { skill?: unknown } | undefined)?.skill
  if (skill !== undefined && typeof skill !== 'string') throw invalid('skill', 'must be a string')
  if (skill !== undefined && !skills.has(skill)) throw noSkill(skill, skills)
  // Another skill makes another request, which takes nothing from the one before.
  const before = skill === undefined || known?.skill === undefined || known.skill === skill ? known : undefined
  const chosen = skill ?? before?.skill
  const given: Fields = {}
  const strange: string[] = []
  for (const part of data) {
    if (!isObject(part)) continue
    const { skill: _, ...own } = part
    const { fields, unknown, wrong } = inOurNames(own, (name) => meant(name, skills))
    if (wrong !== undefined) throw invalid('message.parts', wrong)
    Object.assign(given, fields)
    strange.push(...unknown, ...strangeIn(fields.audience))
  }
  const does = chosen === undefined ? undefined : skills.get(chosen)
  const kept = before && keptOf(before, given, does, skill !== undefined)
  const fields = { ...kept?.fields, ...given }
  if (before) refuseLarge(fields)
  const names = [
    ...(kept?.unknown ?? []),
    ...strange.slice(0, mostUnknown).map((name) => name.slice(0, longestUnknown))
  ]
  const unknown = does && !does.asksAboutUnknown ? [] : [...new Set(names)].slice(0, mostUnknown)
  return { ...(chosen !== undefined && { skill: chosen }), fields, ...(unknown.length > 0 && { unknown }) }
}

const strangeIn = (audience: unknown): string[] =>
  isObject(audience)
    ? Object.entries(audience).flatMap(([name, value]) =>
        /^(?:broadcast|targets)$/.test(name) || value === null ? [] : `audience.${name}`
      )
    : []

/**
 * The parts of the earlier request that a further message keeps. A new audience replaces the whole earlier one. A new
 * audience, like a repeat of the whole request, also settles the question about unknown fields.
 */
function keptOf(before: Request, given: Fields, does: Skill | undefined, names: boolean): Request {
  const audience = audienceFields.some((name) => Object.hasOwn(given, name))
  const answers = audience || (names && does?.id === before.skill)
  const stays = (name: string) =>
    !(audience && audienceFields.includes(name)) && !(answers && does?.asksAboutUnknown && !knows(does, name))
  const fields = Object.fromEntries(Object.entries(before.fields).filter(([name]) => stays(name)))
  return answers || !before.unknown ? { fields } : { fields, unknown: before.unknown }
}

export const noSkill = (skill: string, skills: Skills) =>
  new AgentError(
    'skill_not_found',
    `There is no skill ${skill.slice(0, 100)}. There are ${[...skills.keys()].join(', ')}.`
  )
