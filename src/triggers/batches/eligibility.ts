import { quietFor, type Ready } from '../../campaigns/campaigns.ts'
import { channelOf, type Draft, type Endpoint, type FailureCode } from '../../channels/channels.ts'
import { newId } from '../../platform/ids.ts'
import { type Recipient, TemplateFailed } from '../../templates/templates.ts'
import { type Delta, nothing, tally } from '../counters-store.ts'
import type { Skip } from './batch-store.ts'

/** What comes of devices: a message, a reason to pass them over, or a later time. */
export interface Sorted {
  drafts: Draft[]
  skips: Skip[]
  /** Devices that quiet hours hold, by when these end; and those for which there was no time, by now. */
  held: Map<number, string[]>
}

export interface Sorting {
  trigger: { id: string; campaign_id: string; properties: Record<string, unknown> }
  ready: Ready
  recipients: Recipient[]
  targets: Map<string, Endpoint | FailureCode>
  /** Users that the frequency cap spares. */
  full: Set<string>
  notAfter: number
}

/** The reason of a message that could not be made; the only one here that is a failure. */
const templateFailed = 'template_failed'

/** What is not rendered by then goes on in a chunk of its own: others want the place in the worker, too. */
export const chunkMs = 1_000

/** Takes each device through the gates, in order, and has the messages rendered of those that pass. */
export async function sortRecipients(sorting: Sorting): Promise<Sorted> {
  const { trigger, ready, recipients, targets, full, notAfter } = sorting
  const now = new Date()
  const sorted: Sorted = { drafts: [], skips: [], held: new Map() }
  const { id: triggerId, campaign_id: campaignId } = trigger
  const hold = (until: Date, deviceId: string) => {
    const held = sorted.held.get(until.getTime()) ?? []
    held.push(deviceId)
    sorted.held.set(until.getTime(), held)
  }
  const skip = ({ device_id: value, user_id: userId }: Recipient, reason: string) =>
    sorted.skips.push({ triggerId, kind: 'device_id', value, reason, userId })
  const passed: { recipient: Recipient; endpoint: Endpoint }[] = []
  for (const recipient of recipients) {
    const endpoint = targets.get(recipient.device_id) ?? 'NO_DEVICE'
    const quiet = quietFor(ready.definition, recipient, now)
    if (typeof endpoint === 'string') skip(recipient, endpoint.toLowerCase())
    else if (notAfter <= now.getTime()) skip(recipient, 'expired')
    else if (quiet && ready.definition.quiet_hours!.action === 'skip') skip(recipient, 'quiet_hours')
    else if (quiet) hold(quiet, recipient.device_id)
    else if (full.has(recipient.user_id)) skip(recipient, 'frequency_cap')
    else passed.push({ recipient, endpoint })
  }
  const render = ready.rendering.for(trigger, triggerId)
  const rendered = await render(
    passed.map(({ recipient }) => recipient),
    now.getTime() + chunkMs
  )
  for (const [index, { recipient, endpoint }] of passed.entries()) {
    const content = rendered[index]!
    if (content === 'late') hold(now, recipient.device_id)
    else if (content instanceof TemplateFailed) skip(recipient, templateFailed)
    else {
      const messageId = newId()
      const ids = { messageId, triggerId, campaignId, userId: recipient.user_id }
      const collapseId = channelOf(content).collapseId(content, messageId)
      sorted.drafts.push({ ...ids, collapseId, endpoint, content, priority: 'high', notAfter })
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
