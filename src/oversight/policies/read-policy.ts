import { type Detail, Refusal } from '../../platform/errors.ts'
import { isAbsent, isObject } from '../../platform/fields.ts'
import { isTimeZone } from '../../platform/time.ts'
import type { Policy, PolicyHours } from '../../projects/projects.ts'

const mostRecipients = 1_000_000_000
const numbers = ['max_recipients', 'max_recipients_per_day', 'approval_above'] as const
const switches = ['confirm_broadcasts', 'dry_run'] as const
const fields: readonly string[] = ['skills', ...numbers, ...switches, 'quiet_hours']
const hourFields = ['from', 'to', 'timezone']
const timeOfDay = /^([01][0-9]|2[0-3]):[0-5][0-9]$/

type Add = (path: string, message: string) => void

/**
 * Reads the policy of a key; null and absent: none. A field that is left out sets no limit. Unlike elsewhere an unknown
 * field is refused, because a misspelt limit would limit nothing. One refusal names all faults.
 */
export function readPolicy(
  given: unknown,
  skills: { has(id: string): boolean; keys(): Iterable<string> }
): Policy | null {
  if (isAbsent(given)) return null
  const faults: Detail[] = []
  const add: Add = (path, message) => faults.push({ path: path ? `policy.${path}` : 'policy', message })
  const policy = isObject(given) ? policyOf(given, skills, add) : undefined
  if (!policy) add('', 'must be an object or null')
  const [first] = faults
  if (first) throw new Refusal('invalid_parameter', `${first.path}: ${first.message}`, faults)
  return policy!
}

/**
 * Reads a change of a policy. The returned function applies it: fields that are left out keep their values, null takes a
 * limit away, and null for the whole takes the policy away.
 */
export function readPolicyChange(
  given: unknown,
  skills: Parameters<typeof readPolicy>[1]
): (old: Policy | null) => Policy | null {
  const read = readPolicy(given, skills)
  if (!read) return () => null
  const changed = Object.fromEntries(Object.entries(read).filter(([name]) => Object.hasOwn(given as object, name)))
  return (old) => (old ? { ...old, ...changed } : read)
}

function policyOf(given: Record<string, unknown>, skills: Parameters<typeof readPolicy>[1], add: Add): Policy {
  for (const name of Object.keys(given))
    if (!fields.includes(name)) add(name.slice(0, 100), `is not a field of a policy; there are ${fields.join(', ')}`)
  const number = (name: (typeof numbers)[number]): number | null => {
    const value = given[name] ?? null
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostRecipients
    if (value !== null && !fits) add(name, `must be a whole number from 0 to ${mostRecipients}, or null`)
    return fits ? value : null
  }
  const isOn = (name: (typeof switches)[number]): boolean => {
    const value = given[name] ?? false
    if (typeof value !== 'boolean') add(name, 'must be true or false')
    return value === true
  }
  return {
    skills: skillsOf(given.skills, skills, add),
    max_recipients: number('max_recipients'),
    max_recipients_per_day: number('max_recipients_per_day'),
    approval_above: number('approval_above'),
    confirm_broadcasts: isOn('confirm_broadcasts'),
    dry_run: isOn('dry_run'),
    quiet_hours: hoursOf(given.quiet_hours, add)
  }
}

function skillsOf(given: unknown, skills: Parameters<typeof readPolicy>[1], add: Add): string[] | null {
  if (isAbsent(given)) return null
  if (!Array.isArray(given)) {
    add('skills', 'must be an array of skills, or null for all')
    return null
  }
  const known = [...skills.keys()].join(', ')
  for (const [index, id] of given.slice(0, 100).entries())
    if (typeof id !== 'string' || !skills.has(id)) add(`skills[${index}]`, `must be one of ${known}`)
  if (given.length > 100) add('skills', 'must be at most 100')
  return [...new Set(given as string[])]
}

function hoursOf(given: unknown, add: Add): PolicyHours | null {
  if (isAbsent(given)) return null
  if (!isObject(given)) {
    add('quiet_hours', 'must be an object or null')
    return null
  }
  for (const name of Object.keys(given))
    if (!hourFields.includes(name)) add(`quiet_hours.${name.slice(0, 100)}`, 'is not a field of quiet hours')
  const { from, to } = given
  const timezone = given.timezone ?? 'UTC'
  for (const [name, value] of Object.entries({ from, to }))
    if (typeof value !== 'string' || !timeOfDay.test(value))
      add(`quiet_hours.${name}`, 'must be a time such as 08:30 or 22:00')
  if (from === to && typeof from === 'string') add('quiet_hours.to', 'must not be the same time as from')
  if (!isTimeZone(timezone))
    add('quiet_hours.timezone', 'must be the IANA name of a time zone, such as Asia/Seoul; default UTC')
  return { from: String(from), to: String(to), timezone: String(timezone) }
}
