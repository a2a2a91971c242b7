import type { Endpoint } from '../../channels/channels.ts'
import { isTransactional, refusalBy, type TopicDefaults } from '../../preferences/preferences.ts'
import type { Recipient } from '../../templates/templates.ts'
import type { Choices } from '../../users/users.ts'
import type { Campaign } from '../definition/definition.ts'
import type { QuietHours } from '../definition/schema.ts'
import type { Endpoints } from './endpoints.ts'
import { quietUntil } from './quiet-hours.ts'

/** Devices that are sent to later, by the time they are due (milliseconds since 1970). */
export type Deferred = Map<number, string[]>

export type RecipientWithChoices = Recipient & { choices: Choices | null }

export interface Eligibility<Some = Recipient> {
  eligible: { recipient: Some; endpoint: Endpoint }[]
  skipped: { recipient: Some; reason: string }[]
  /** Devices in quiet hours, by the time these end. */
  deferred: Deferred
}

export interface EligibilityRules {
  endpoints: Endpoints
  /** Defaults of the topics of these campaigns. */
  topics: TopicDefaults
  /** Quiet hours of the project. */
  quietHours?: QuietHours | null | undefined
  /** Users that have reached the frequency cap. */
  capped: ReadonlySet<string>
  notAfter: number
  now: Date
}

/** Checks each device before its message is rendered: choices, endpoint, time to live, quiet hours, frequency cap. */
export function checkEligibility<Some extends RecipientWithChoices>(
  campaign: Campaign,
  recipients: readonly Some[],
  { endpoints, topics, quietHours, capped, notAfter, now }: EligibilityRules
): Eligibility<Some> {
  const result: Eligibility<Some> = { eligible: [], skipped: [], deferred: new Map() }
  const skip = (recipient: Some, reason: string) => result.skipped.push({ recipient, reason })
  const hours = hoursOf(campaign, quietHours)
  for (const recipient of recipients) {
    const { device_id, user_id, choices } = recipient
    const refusal = refusalBy(choices, campaign, topics)
    const endpoint = endpoints.get(device_id) ?? 'NO_DEVICE'
    const quiet = hours.length > 0 ? quietFor(hours, recipient, now) : undefined
    if (refusal) skip(recipient, refusal)
    else if (typeof endpoint === 'string') skip(recipient, endpoint.toLowerCase())
    else if (notAfter <= now.getTime()) skip(recipient, 'expired')
    else if (quiet === 'skip') skip(recipient, 'quiet_hours')
    else if (quiet) defer(result.deferred, quiet, device_id)
    else if (capped.has(user_id)) skip(recipient, 'frequency_cap')
    else result.eligible.push({ recipient, endpoint })
  }
  return result
}

/** The quiet hours of a campaign: its own, and those of its project unless it is transactional. */
export const hoursOf = (campaign: Campaign, ofProject: QuietHours | null | undefined): QuietHours[] =>
  [campaign.quiet_hours, isTransactional(campaign) ? undefined : ofProject].filter((one) => !!one)

/** The end of all quiet hours that hold now, in milliseconds since 1970, or `skip` if one of them wants no message then. */
export function quietFor(
  hours: QuietHours[],
  { properties, facts }: Pick<Recipient, 'properties' | 'facts'>,
  now: Date
): number | 'skip' | undefined {
  const zones = { user: properties.timezone, device: facts.timezone }
  let latest: number | undefined
  for (const one of hours) {
    const until = quietUntil(one, zones, now)?.getTime()
    if (until === undefined) continue
    if (one.action === 'skip') return 'skip'
    latest = Math.max(latest ?? 0, until)
  }
  return latest
}

export function defer(deferred: Deferred, untilMs: number, deviceId: string): void {
  const others = deferred.get(untilMs)
  if (others) others.push(deviceId)
  else deferred.set(untilMs, [deviceId])
}

/** The longest that gateways keep a notification; applies to campaigns without `ttl_seconds`. */
const longestTtlMs = 28 * 86_400_000

/** The end of a message's time to live, counted from the trigger, or from the end of the quiet hours that deferred it. */
export const notAfterOf = ({ ttl_seconds }: Campaign, from: Date): number =>
  from.getTime() + (ttl_seconds === undefined ? longestTtlMs : ttl_seconds * 1000)
