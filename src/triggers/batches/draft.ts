import {
  type Campaign,
  checkEligibility,
  type Deferred,
  defer,
  type Endpoints,
  type Ready,
  type RecipientWithChoices
} from '../../campaigns/campaigns.ts'
import { canShow, channelOf, type Draft } from '../../channels/channels.ts'
import { newId } from '../../platform/ids.ts'
import type { TopicDefaults } from '../../preferences/preferences.ts'
import { type Recipient, TemplateFailed, ValuesMissing } from '../../templates/templates.ts'
import { addTo, type Delta, noChange, partOf, type Said, tally } from '../counting/delta.ts'
import type { Skip } from './batch-store.ts'

/** The drafts of a batch. Every device has a draft or a skip, or is deferred. */
export interface Drafts {
  messages: Draft[]
  skips: Skip[]
  /** Devices in quiet hours are due when these end; devices that were not rendered in time are due now. */
  deferred: Deferred
}

export interface DraftRequest {
  trigger: {
    id: string
    campaign_id: string
    properties: Record<string, unknown>
    step?: string | null
    origin?: string
  }
  ready: Ready
  recipients: RecipientWithChoices[]
  endpoints: Endpoints
  /** Defaults of the topics of these campaigns. */
  topics: TopicDefaults
  /** Quiet hours of the project. */
  quietHours?: Campaign['quiet_hours'] | null
  /** Users that have reached the frequency cap. */
  capped: ReadonlySet<string>
  notAfter: number
  /** The variant that all get, if one was chosen. */
  winner?: string | undefined
}

/** The one skip that counts as a failure: the message could not be rendered. */
const templateFailed = 'template_failed'
/** The reason of users who get nothing, to compare the others with. Results count them under this name too. */
const holdout = 'holdout'

/** Rendering time of a batch. Devices that are not rendered by then form another batch, so that other jobs get a turn. */
export const renderMs = 1_000

/** Drafts the messages of a trigger to devices: checks their eligibility and renders for those that pass. */
export async function draftMessages({
  trigger,
  ready,
  recipients,
  endpoints,
  topics,
  quietHours,
  capped,
  notAfter,
  winner
}: DraftRequest): Promise<Drafts> {
  const now = new Date()
  const { id: triggerId, campaign_id: campaignId } = trigger
  const { eligible, skipped, deferred } = checkEligibility(ready.definition, recipients, {
    endpoints,
    topics,
    quietHours,
    capped,
    notAfter,
    now
  })
  const { rendering, choose } = ready.texts(trigger.step)
  const skipOf = (recipient: Recipient, reason: string, said: Said = choose(recipient, winner)): Skip => ({
    triggerId,
    kind: 'device_id',
    value: recipient.device_id,
    reason,
    userId: recipient.user_id,
    variant: said.variant ?? null,
    language: said.language ?? null
  })
  const skips = skipped.map(({ recipient, reason }) => skipOf(recipient, reason))
  // Decided once, before a first step (contract B.2).
  const heldOut = trigger.origin === 'step' ? undefined : ready.heldOut
  const reached = heldOut ? eligible.filter(({ recipient }) => !heldOut(recipient.user_id)) : eligible
  if (heldOut)
    for (const { recipient } of eligible) if (heldOut(recipient.user_id)) skips.push(skipOf(recipient, holdout))
  const messages: Draft[] = []
  const choices = reached.map(({ recipient }) => choose(recipient, winner))
  const rendered = await rendering.for(trigger, triggerId)(
    reached.map(({ recipient }) => recipient),
    now.getTime() + renderMs,
    choices.map(({ text }) => text)
  )
  for (const [index, { recipient, endpoint }] of reached.entries()) {
    const [content, choice] = [rendered[index]!, choices[index]!]
    if (content === 'late') defer(deferred, now.getTime(), recipient.device_id)
    else if (content instanceof TemplateFailed) skips.push(skipOf(recipient, templateFailed, choice))
    else if (content instanceof ValuesMissing) skips.push(skipOf(recipient, 'missing_value', choice))
    else if (!canShow(content, recipient.platform)) skips.push(skipOf(recipient, 'unsupported_platform', choice))
    else {
      const messageId = newId()
      const { variant, language, step } = choice
      const ids = { messageId, triggerId, campaignId, userId: recipient.user_id, variant, language, step }
      const collapseId = channelOf(content).collapseId(content, messageId)
      messages.push({ ...ids, collapseId, endpoint, content, priority: 'high', notAfter })
    }
  }
  return { messages, skips, deferred }
}

type Written = Said & { user_id: string | null }

/** Each user with a message or in the holdout, once, with the variant, language and step of the user's first device. */
export function usersOf(written: Written[], skips: Skip[]): Map<string, Said> {
  const users = new Map<string, Said>()
  for (const row of written) if (row.user_id !== null && !users.has(row.user_id)) users.set(row.user_id, row)
  for (const { reason, userId } of skips)
    if (reason === holdout && userId !== null && !users.has(userId)) users.set(userId, { variant: holdout })
  return users
}

/** The counters that a trigger gains by written messages, skips and deferred devices. */
export function deltaOf(triggerId: string, written: Written[], skips: Skip[], deferred: Deferred): Delta {
  const delta = noChange(triggerId)
  for (const said of usersOf(written, skips).values()) partOf(delta, said).users += 1
  for (const row of written) addTo(delta, 'targeted', row)
  for (const deviceIds of deferred.values()) delta.targeted += deviceIds.length
  for (const skip of skips) {
    const { reason } = skip
    const said = reason === holdout ? { variant: holdout } : skip
    addTo(delta, 'targeted', said)
    if (reason === templateFailed) {
      addTo(delta, 'failed', said)
      tally(delta.failedFor, templateFailed.toUpperCase())
    } else {
      addTo(delta, 'skipped', said)
      tally(delta.skippedFor, reason)
    }
  }
  return delta
}
