import { Refusal } from '../../platform/errors.ts'
import { checkChosenId, checkJson, isAbsent, isObject, readEach, refusing } from '../../platform/fields.ts'

export type TargetKind = 'project_user_id' | 'device_id' | 'user_id'
/** As it is stored: what is named, and by which kind of id. */
export type StoredTarget = [kind: TargetKind, value: string]
export type StoredAudience = { broadcast: true } | { targets: StoredTarget[] }

export interface TriggerRequest {
  /** Null: the default audience of the campaign. */
  audience: StoredAudience | null
  properties: Record<string, unknown>
}

export const maxTargets = 20_000
/** Deeper than any template reaches, and far from what exhausts a stack, ours or the database's. */
const propertyBounds = { levels: 128, bytes: 1024 * 1024 }
const longestId: Record<TargetKind, number> = { project_user_id: 512, device_id: 255, user_id: 255 }

const invalid = (path: string, message: string) =>
  refusing(path.startsWith('default_audience') ? 'invalid_campaign' : 'invalid_trigger')(path, message)

export const checkCampaignId = (id: unknown): string =>
  checkChosenId(id, 255, (message) => new Refusal('invalid_campaign_id', `campaign_id: ${message}`))

/** All that the body of a trigger may hold; other fields are ignored with a warning. */
export const triggerFields: readonly string[] = ['audience', 'properties']

/** Contract 4.4 and what is settled about it: nothing is coerced, unknown fields are ignored, null is absent. */
export function readTriggerRequest(body: unknown): TriggerRequest {
  if (!isObject(body)) throw invalid('body', 'must be an object')
  return {
    audience: isAbsent(body.audience) ? null : readAudience(body.audience),
    properties: isAbsent(body.properties) ? {} : readProperties(body.properties)
  }
}

/** An audience that names nobody reaches nobody: it never widens to a broadcast, nor to the default audience. */
export function readAudience(audience: unknown, path = 'audience'): StoredAudience {
  if (!isObject(audience)) throw invalid(path, 'must be an object')
  const { targets } = audience
  const broadcast = audience.broadcast ?? false
  if (typeof broadcast !== 'boolean') throw invalid(`${path}.broadcast`, 'must be true or false')
  // Spec 2.4: what is ignored is not judged either.
  if (broadcast) return { broadcast }
  if (isAbsent(targets)) return { targets: [] }
  if (!Array.isArray(targets)) throw invalid(`${path}.targets`, 'must be an array')
  if (targets.length > maxTargets) throw invalid(`${path}.targets`, `must be at most ${maxTargets}`)
  return { targets: distinct(readEach(targets, (target, index) => readTarget(target, `${path}.targets[${index}]`))) }
}

const kinds = Object.keys(longestId) as TargetKind[]

function readTarget(target: unknown, path: string): StoredTarget {
  if (!isObject(target)) throw invalid(path, 'must be an object')
  const given = kinds.filter((kind) => !isAbsent(target[kind]))
  const [kind] = given
  if (!kind || given.length > 1) throw invalid(path, `must have exactly one of ${kinds.join(', ')}`)
  const value = checkChosenId(target[kind], longestId[kind], (message) => invalid(`${path}.${kind}`, message))
  // One id, one spelling: ours are hexadecimal digits.
  return [kind, kind === 'user_id' ? value.toLowerCase() : value]
}

function distinct(targets: StoredTarget[]): StoredTarget[] {
  const known = new Map(targets.map((target) => [`${target[0]} ${target[1]}`, target]))
  return known.size === targets.length ? targets : [...known.values()]
}

function readProperties(properties: unknown): Record<string, unknown> {
  if (!isObject(properties)) throw invalid('properties', 'must be an object')
  checkJson(properties, propertyBounds, (message) => invalid('properties', message))
  return properties
}
