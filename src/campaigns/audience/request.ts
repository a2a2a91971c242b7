import { Refusal } from '../../platform/errors.ts'
import { checkChosenId, checkJson, inUnits, isAbsent, isObject, readEach, refusing } from '../../platform/fields.ts'
import { readSendAt as readTimeAhead } from '../../platform/time.ts'

export type TargetKind = 'project_user_id' | 'device_id' | 'user_id'
/** A target as it is stored: the kind of id, the id, and its own properties if it has any. */
export type StoredTarget =
  | [kind: TargetKind, value: string]
  | [kind: TargetKind, value: string, properties: Record<string, unknown>]
export type StoredAudience = { broadcast: true } | { targets: StoredTarget[] }

/** Whether a target of the audience has properties of its own. */
export const hasOwnProperties = (audience: StoredAudience | null): boolean =>
  audience !== null && 'targets' in audience && audience.targets.some((target) => target.length === 3)

export interface TriggerRequest {
  /** Null: the default audience of the campaign. */
  audience: StoredAudience | null
  properties: Record<string, unknown>
  /** Not before this. Absent or past: at once. */
  sendAt?: Date
}

/** A trigger whose fields are checked. */
export interface CheckedTrigger extends TriggerRequest {
  campaignId: string
  /** The trigger is refused if the campaign has another version by now. Absent: any version. */
  campaignVersion?: number
}

/** A command. Its refusals name its fields as they stand here. */
export interface TriggerCampaign {
  campaignId: string
  /** Absent: the default audience of the campaign. */
  audience?: { broadcast: true } | { targets: Target[] }
  properties?: Record<string, unknown>
  /** Only this version of the campaign. Absent: the version it has when the trigger is accepted. */
  campaignVersion?: number
  /** RFC 3339, at most 90 days ahead. Absent or past: at once. */
  sendAt?: string
}

/** `properties` are merged over those of the trigger, for this target. */
export type Target = ({ projectUserId: string } | { deviceId: string } | { userId: string }) & {
  properties?: Record<string, unknown> | undefined
}

export const maxTargets = 20_000
/** Deeper than any template reaches, and not deep enough to exhaust a stack here or in the database. */
const propertyBounds = { levels: 128, bytes: 1024 * 1024 }
/** The size of the properties of all targets together. */
const targetBounds = { levels: 128, bytes: 8 * 1024 * 1024 }
const longestId: Record<TargetKind, number> = { project_user_id: 512, device_id: 255, user_id: 255 }

const invalid = (path: string, message: string) =>
  refusing(path.startsWith('default_audience') ? 'invalid_campaign' : 'invalid_trigger')(path, message)

/** The time of a trigger: at most 90 days ahead. */
export const readSendAt = (text: unknown, path = 'send_at'): Date =>
  readTimeAhead(text, (message) => invalid(path, message))

export const checkCampaignId = (id: unknown, field = 'campaign_id'): string =>
  checkChosenId(id, 255, (message) => new Refusal('invalid_campaign_id', `${field}: ${message}`))

/** The fields of a trigger request. Other fields are ignored with a warning. */
export const triggerFields: readonly string[] = ['audience', 'properties', 'send_at']

/** Checks a command and returns the trigger that it asks for. */
export function checkTriggerCampaign(command: TriggerCampaign): CheckedTrigger {
  const { campaignId, audience, properties = {}, campaignVersion, sendAt } = command
  return {
    ...(campaignVersion !== undefined && { campaignVersion }),
    campaignId: checkCampaignId(campaignId, 'campaignId'),
    audience: audience && 'targets' in audience ? { targets: checkTargets(audience.targets) } : (audience ?? null),
    properties: checkProperties(properties),
    ...(sendAt !== undefined && { sendAt: readSendAt(sendAt, 'sendAt') })
  }
}

/** Contract 4.4: the request of a call. */
export const readTrigger = (campaignId: unknown, body: unknown): CheckedTrigger => ({
  campaignId: checkCampaignId(campaignId),
  ...readTriggerRequest(body)
})

/** Contract 4.4: no value is coerced, unknown fields are ignored, null is absent. */
export function readTriggerRequest(body: unknown): TriggerRequest {
  if (!isObject(body)) throw invalid('body', 'must be an object')
  return {
    audience: isAbsent(body.audience) ? null : readAudience(body.audience),
    properties: isAbsent(body.properties) ? {} : readProperties(body.properties),
    ...(!isAbsent(body.send_at) && { sendAt: readSendAt(body.send_at) })
  }
}

/** An audience without targets is empty: it never widens to a broadcast, nor to the default audience. */
export function readAudience(audience: unknown, path = 'audience'): StoredAudience {
  if (!isObject(audience)) throw invalid(path, 'must be an object')
  const { targets } = audience
  const broadcast = audience.broadcast ?? false
  if (typeof broadcast !== 'boolean') throw invalid(`${path}.broadcast`, 'must be true or false')
  // Contract 2.4: targets beside a broadcast are ignored, so they are not checked.
  if (broadcast) return { broadcast }
  if (isAbsent(targets)) return { targets: [] }
  if (!Array.isArray(targets)) throw invalid(`${path}.targets`, 'must be an array')
  return { targets: eachTarget(targets, `${path}.targets`, readTarget) }
}

function eachTarget<Given>(
  targets: Given[],
  path: string,
  read: (target: Given, path: string) => StoredTarget
): StoredTarget[] {
  if (targets.length > maxTargets) throw invalid(path, `must be at most ${maxTargets}`)
  const stored = readEach(targets, (target, index) => read(target, `${path}[${index}]`))
  checkSize(stored, path)
  return distinct(stored)
}

/** The properties of all targets together, before doubles are taken out: a caller can count what it sends. */
function checkSize(targets: StoredTarget[], path: string): void {
  let bytes = 0
  for (const [, , properties] of targets) if (properties) bytes += Buffer.byteLength(JSON.stringify(properties))
  if (bytes > targetBounds.bytes)
    throw invalid(path, `the properties of all targets together must be at most ${inUnits(targetBounds.bytes)}`)
}

/** The fields of a command's target, with the kind of id that each holds. */
const kindOf = { projectUserId: 'project_user_id', deviceId: 'device_id', userId: 'user_id' } as const
const fieldOf = { project_user_id: 'projectUserId', device_id: 'deviceId', user_id: 'userId' } as const

/** The command of a checked trigger: the inverse of `checkTriggerCampaign`. */
export function commandOfTrigger({ audience, sendAt, ...checked }: CheckedTrigger): TriggerCampaign {
  const rest = { ...checked, ...(sendAt && { sendAt: sendAt.toISOString() }) }
  if (audience === null || 'broadcast' in audience) return { ...rest, ...(audience && { audience }) }
  const targets = audience.targets.map(
    ([kind, id, properties]) => ({ [fieldOf[kind]]: id, ...(properties && { properties }) }) as Target
  )
  return { ...rest, audience: { targets } }
}

const checkTargets = (targets: Target[]): StoredTarget[] =>
  eachTarget(targets, 'audience.targets', (target, path) => {
    const { properties, ...ids } = target
    const [[field, id]] = Object.entries(ids) as [[keyof typeof kindOf, string]]
    return withOwn(storedTarget(kindOf[field], id, `${path}.${field}`), properties, path)
  })

const kinds = Object.keys(longestId) as TargetKind[]

function readTarget(target: unknown, path: string): StoredTarget {
  if (!isObject(target)) throw invalid(path, 'must be an object')
  const given = kinds.filter((kind) => !isAbsent(target[kind]))
  const [kind] = given
  if (!kind || given.length > 1) throw invalid(path, `must have exactly one of ${kinds.join(', ')}`)
  return withOwn(storedTarget(kind, target[kind], `${path}.${kind}`), target.properties, path)
}

/** The default audience of a campaign has no trigger, so its targets have no properties. */
function withOwn([kind, value]: StoredTarget, properties: unknown, path: string): StoredTarget {
  if (isAbsent(properties) || path.startsWith('default_audience')) return [kind, value]
  if (!isObject(properties)) throw invalid(`${path}.properties`, 'must be an object')
  checkJson(properties, targetBounds, (message) => invalid(`${path}.properties`, message))
  return Object.keys(properties).length > 0 ? [kind, value, properties] : [kind, value]
}

function storedTarget(kind: TargetKind, id: unknown, path: string): StoredTarget {
  const value = checkChosenId(id, longestId[kind], (message) => invalid(path, message))
  // Ids of users are hexadecimal digits, which have one spelling in lower case.
  return [kind, kind === 'user_id' ? value.toLowerCase() : value]
}

/** Of several targets with the same id the first counts. */
function distinct(targets: StoredTarget[]): StoredTarget[] {
  const known = new Map<string, StoredTarget>()
  for (const target of targets) {
    const key = `${target[0]} ${target[1]}`
    if (!known.has(key)) known.set(key, target)
  }
  return known.size === targets.length ? targets : [...known.values()]
}

function readProperties(properties: unknown): Record<string, unknown> {
  if (!isObject(properties)) throw invalid('properties', 'must be an object')
  return checkProperties(properties)
}

function checkProperties(properties: Record<string, unknown>): Record<string, unknown> {
  checkJson(properties, propertyBounds, (message) => invalid('properties', message))
  return properties
}
