import { checkEligibility, type Deferred, defer, type Endpoints, type Ready } from '../../campaigns/campaigns.ts'
import { channelOf, type Draft } from '../../channels/channels.ts'
import { newId } from '../../platform/ids.ts'
import { type Recipient, TemplateFailed } from '../../templates/templates.ts'
import { type Delta, noChange, tally } from '../counter-store.ts'
import type { Skip } from './batch-store.ts'

/** The drafts of a batch. Every device has a draft or a skip, or is deferred. */
export interface Drafts {
  messages: Draft[]
  skips: Skip[]
  /** Devices in quiet hours are due when these end; devices that were not rendered in time are due now. */
  deferred: Deferred
}

export interface DraftRequest {
  trigger: { id: string; campaign_id: string; properties: Record<string, unknown> }
  ready: Ready
  recipients: Recipient[]
  endpoints: Endpoints
  /** Users that have reached the frequency cap. */
  capped: ReadonlySet<string>
  notAfter: number
}

/** The one skip that counts as a failure: the message could not be rendered. */
const templateFailed = 'template_failed'

/** Rendering time of a batch. Devices that are not rendered by then form another batch, so that other jobs get a turn. */
export const renderMs = 1_000

/** Drafts the messages of a trigger to devices: checks their eligibility and renders for those that pass. */
export async function draftMessages({
  trigger,
  ready,
  recipients,
  endpoints,
  capped,
  notAfter
}: DraftRequest): Promise<Drafts> {
  const now = new Date()
  const { id: triggerId, campaign_id: campaignId } = trigger
  const { eligible, skipped, deferred } = checkEligibility(ready.definition, recipients, {
    endpoints,
    capped,
    notAfter,
    now
  })
  const skipOf = ({ device_id: value, user_id: userId }: Recipient, reason: string): Skip => ({
    triggerId,
    kind: 'device_id',
    value,
    reason,
    userId
  })
  const skips = skipped.map(({ recipient, reason }) => skipOf(recipient, reason))
  const messages: Draft[] = []
  const rendered = await ready.rendering.for(trigger, triggerId)(
    eligible.map(({ recipient }) => recipient),
    now.getTime() + renderMs
  )
  for (const [index, { recipient, endpoint }] of eligible.entries()) {
    const content = rendered[index]!
    if (content === 'late') defer(deferred, now.getTime(), recipient.device_id)
    else if (content instanceof TemplateFailed) skips.push(skipOf(recipient, templateFailed))
    else {
      const messageId = newId()
      const ids = { messageId, triggerId, campaignId, userId: recipient.user_id }
      const collapseId = channelOf(content).collapseId(content, messageId)
      messages.push({ ...ids, collapseId, endpoint, content, priority: 'high', notAfter })
    }
  }
  return { messages, skips, deferred }
}

/** The counters that a trigger gains by written messages, skips and deferred devices. */
export function deltaOf(triggerId: string, written: number, skips: Skip[], deferred: Deferred): Delta {
  const delta = noChange(triggerId)
  delta.targeted = written + skips.length
  for (const deviceIds of deferred.values()) delta.targeted += deviceIds.length
  for (const { reason } of skips) {
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
