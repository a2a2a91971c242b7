import { collapseIdOf, type FailureCode, type MessageDraft, type PushTarget } from '../delivery/delivery.ts'
import { newId } from '../platform/ids.ts'
import type { Skip } from './chunk-store.ts'
import { type Delta, nothing, tally } from './counting.ts'
import type { Ready } from './definitions.ts'
import { quietFor } from './gates.ts'
import type { Recipient } from './rendering.ts'
import { TemplateFailed } from './template.ts'

/** What comes of devices: a message, a reason to pass them over, or a later time. */
export interface Sorted {
  drafts: MessageDraft[]
  skips: Skip[]
  /** Devices that quiet hours hold, by when these end; and those for which there was no time, by now. */
  held: Map<number, string[]>
}

export interface Sorting {
  trigger: { id: string; campaign_id: string; properties: Record<string, unknown> }
  ready: Ready
  recipients: Recipient[]
  targets: Map<string, PushTarget | FailureCode>
  /** Users that the frequency cap spares. */
  full: Set<string>
  notAfter: number
}

/** The reason of a message that could not be made; the only one here that is a failure. */
const templateFailed = 'template_failed'

/** A template may be made to take long for each of hundreds of devices: others get a turn in between. */
const sliceMs = 25
/** What is not rendered by then goes on in a chunk of its own: others want the place in the worker, too. */
export const chunkMs = 1_000

/** Takes each device through the gates, in order. */
export async function sortRecipients(sorting: Sorting): Promise<Sorted> {
  const { trigger, ready, recipients, targets, full, notAfter } = sorting
  const now = new Date()
  const began = performance.now()
  let since = began
  const sorted: Sorted = { drafts: [], skips: [], held: new Map() }
  const render = ready.rendering.for(trigger)
  const { id: triggerId, campaign_id: campaignId } = trigger
  for (const [index, recipient] of recipients.entries()) {
    if (performance.now() - began > chunkMs) {
      const rest = recipients.slice(index).map(({ device_id }) => device_id)
      sorted.held.set(now.getTime(), [...(sorted.held.get(now.getTime()) ?? []), ...rest])
      return sorted
    }
    if (performance.now() - since > sliceMs) {
      await new Promise((resolve) => setImmediate(resolve))
      since = performance.now()
    }
    const { device_id: value, user_id: userId } = recipient
    const skip = (reason: string) => sorted.skips.push({ triggerId, kind: 'device_id', value, reason, userId })
    const device = targets.get(value) ?? 'NO_DEVICE'
    const quiet = quietFor(ready.definition, recipient, now)
    if (typeof device === 'string') skip(device.toLowerCase())
    else if (notAfter <= now.getTime()) skip('expired')
    else if (quiet && ready.definition.quiet_hours!.action === 'skip') skip('quiet_hours')
    else if (quiet) sorted.held.set(quiet.getTime(), [...(sorted.held.get(quiet.getTime()) ?? []), value])
    else if (full.has(userId)) skip('frequency_cap')
    else {
      try {
        const content = render(recipient)
        const messageId = newId()
        const collapseId = collapseIdOf(content, messageId)
        const ids = { messageId, triggerId, campaignId, userId, collapseId }
        sorted.drafts.push({ ...ids, device, content, priority: 'high', notAfter })
      } catch (error) {
        if (!(error instanceof TemplateFailed)) throw error
        skip(templateFailed)
      }
    }
  }
  return sorted
}

/** What a trigger counts by what was written for it. */
export function deltaOf(triggerId: string, written: number, skips: Skip[], held: Sorted['held']): Delta {
  const delta = nothing(triggerId)
  delta.targeted = written + skips.length
  for (const deviceIds of held.values()) delta.targeted += deviceIds.length
  for (const { reason } of skips) {
    // Held back on purpose is one thing, could not be made another.
    if (reason === templateFailed) {
      delta.failed += 1
      tally(delta.failedFor, templateFailed.toUpperCase())
    } else {
      delta.skipped += 1
      tally(delta.skippedFor, reason)
    }
  }
  return delta
}
