import type { Endpoint } from '../../channels/channels.ts'
import type { Recipient } from '../../templates/templates.ts'
import type { Campaign } from '../definition/definition.ts'
import type { Endpoints } from './endpoints.ts'
import { quietUntil } from './quiet-hours.ts'

/** Devices that are sent to later, by the time they are due (milliseconds since 1970). */
export type Deferred = Map<number, string[]>

export interface Eligibility {
  eligible: { recipient: Recipient; endpoint: Endpoint }[]
  skipped: { recipient: Recipient; reason: string }[]
  /** Devices in quiet hours, by the time these end. */
  deferred: Deferred
}

export interface EligibilityRules {
  endpoints: Endpoints
  /** Users that have reached the frequency cap. */
  capped: ReadonlySet<string>
  notAfter: number
  now: Date
}

/** Checks each device before its message is rendered: endpoint, time to live, quiet hours, frequency cap. */
export function checkEligibility(
  { quiet_hours }: Campaign,
  recipients: readonly Recipient[],
  { endpoints, capped, notAfter, now }: EligibilityRules
): Eligibility {
  const result: Eligibility = { eligible: [], skipped: [], deferred: new Map() }
  const skip = (recipient: Recipient, reason: string) => result.skipped.push({ recipient, reason })
  for (const recipient of recipients) {
    const { device_id, user_id, properties, facts } = recipient
    const endpoint = endpoints.get(device_id) ?? 'NO_DEVICE'
    const quiet =
      quiet_hours && quietUntil(quiet_hours, { user: properties.timezone, device: facts.timezone }, now)?.getTime()
    if (typeof endpoint === 'string') skip(recipient, endpoint.toLowerCase())
    else if (notAfter <= now.getTime()) skip(recipient, 'expired')
    else if (quiet && quiet_hours.action === 'skip') skip(recipient, 'quiet_hours')
    else if (quiet) defer(result.deferred, quiet, device_id)
    else if (capped.has(user_id)) skip(recipient, 'frequency_cap')
    else result.eligible.push({ recipient, endpoint })
  }
  return result
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
