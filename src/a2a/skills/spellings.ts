import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { isObject } from '../../platform/fields.ts'

type Fields = Record<string, unknown>

/** Fields in the names and types that a skill runs with, or the problems with them. */
export type Settled = { fields: Fields } | { wrong: string }

const camelOf = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const snakeOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * Contract B.9: callers may spell fields in snake_case, as the REST API does, and null counts as absent. Null
 * properties stay, because their meaning depends on the skill. Names that neither spelling knows are returned as
 * `unknown`.
 */
export function inOurNames(given: Fields, isKnown: (name: string) => boolean, path = '') {
  const fields: Fields = {}
  const unknown: string[] = []
  let wrong: string | undefined
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || (value === null && name !== 'properties')) continue
    const ours = isKnown(name) ? name : camelOf(name)
    if (!isKnown(ours)) unknown.push(name)
    else if (Object.hasOwn(fields, ours) && !isDeepStrictEqual(fields[ours], value))
      wrong = `${path}${ours} and ${path}${snakeOf(ours)} differ`
    else fields[ours] = value
  }
  return { fields, unknown, wrong }
}

const ids = ['projectUserId', 'deviceId', 'userId']
const isId = (name: string) => ids.includes(name)

const isOfTarget = (name: string) => isId(name) || name === 'properties'

/** A target in the form of messages:send. */
export const spelledTarget = {
  target: Type.Object(
    {
      projectUserId: Type.Optional(Type.String()),
      deviceId: Type.Optional(Type.String()),
      userId: Type.Optional(Type.String())
    },
    { description: 'Instead of the fields of the same names.' }
  )
}

/** `target {project_user_id}`, as in messages:send, beside or instead of the flat fields. */
export function withTarget(given: Fields): Settled {
  if (given.target === undefined) return { fields: given }
  const { target, ...flat } = given
  if (!isObject(target)) return { wrong: 'target: must be an object' }
  const { fields, wrong } = inOurNames(target, isId, 'target.')
  if (wrong !== undefined) return { wrong }
  const other = ids.find((id) => Object.hasOwn(fields, id) && Object.hasOwn(flat, id) && fields[id] !== flat[id])
  return other === undefined ? { fields: { ...flat, ...fields } } : { wrong: `${other} and target.${other} differ` }
}

/** Null properties count as absent, as in the body of a trigger. */
export const withoutNull = (given: Fields): Fields => {
  if (given.properties !== null) return given
  const { properties: _, ...fields } = given
  return fields
}

/**
 * The recipients that an audience names: everyone, a list, or an empty list. `open`: the audience only says that it is
 * no broadcast.
 */
type Named = 'everyone' | 'open' | unknown[]

/**
 * The audience of a trigger. It may stand in `audience` (contract 2.4), in the flat fields, or in one `target`. If
 * these contradict each other, or `broadcast: false` stands without targets, the audience is empty: an audience that
 * the caller gave never widens to the default audience.
 */
export function withAudience(given: Fields): Settled {
  const { audience, broadcast, targets, target, ...rest } = given
  const sides: Fields[] = []
  if (broadcast !== undefined || targets !== undefined) sides.push({ broadcast, targets })
  if (target !== undefined) sides.push({ targets: [target] })
  if (audience !== undefined) {
    if (!isObject(audience)) return { wrong: 'audience: must be an object' }
    sides.push(audience)
  }
  if (sides.length === 0) return { fields: rest }
  const named: Named[] = []
  for (const side of sides) {
    const one = namedBy(side, side === audience ? 'audience.' : '')
    if (typeof one === 'object' && 'wrong' in one) return one
    named.push(one as Named)
  }
  const firm = named.filter((one) => one !== 'open')
  const [first] = firm
  const agree = firm.every((one) => isSame(one, first!)) && !(first === 'everyone' && firm.length < named.length)
  if (first === 'everyone' && agree) return { fields: { ...rest, broadcast: true } }
  return { fields: { ...rest, targets: agree && Array.isArray(first) ? first : [] } }
}

function namedBy(side: Fields, path: string): Named | { wrong: string } {
  const broadcast = side.broadcast ?? undefined
  const targets = side.targets ?? undefined
  if (broadcast !== undefined && typeof broadcast !== 'boolean') return { wrong: `${path}broadcast: must be a boolean` }
  // Contract 2.4: targets that are ignored are not checked either.
  if (broadcast === true) return 'everyone'
  if (targets === undefined) return broadcast === false ? 'open' : []
  if (!Array.isArray(targets)) return { wrong: `${path}targets: must be an array` }
  const found: unknown[] = []
  for (const [index, target] of targets.entries()) {
    if (!isObject(target)) return { wrong: `${path}targets[${index}]: must be an object` }
    const { fields, wrong } = inOurNames(target, isOfTarget, `${path}targets[${index}].`)
    if (wrong !== undefined) return { wrong }
    found.push(withoutNull(fields))
  }
  return found
}

function isSame(one: Named, other: Named): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other
  const members = (list: unknown[]) => [...new Set(list.map((entry) => JSON.stringify(entry)))].sort()
  return isDeepStrictEqual(members(one), members(other))
}
