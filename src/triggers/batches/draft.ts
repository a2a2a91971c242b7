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
import {
  type Recipient,
  type Rendered,
  type Rendering,
  TemplateFailed,
  ValuesMissing
} from '../../templates/templates.ts'
import { addTo, type Delta, noChange, partOf, type Said, tally } from '../counting/delta.ts'
import type { Skip } from './batch-store.ts'

/** The drafts of a batch. Every device has a draft or a skip, or is deferred. */
export interface Drafts {
  messages: Draft[]
  skips: Skip[]
  /** Devices in quiet hours are due when these end; devices that were not rendered in time are due `atOnce`. */
  deferred: Deferred
}

/** The time at which devices that were not rendered in time are due. */
export const atOnce = 0

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
  /** By which quiet hours and the time to live are checked. Absent: the clock of this process. */
  now?: Date
  /** The variant that all get, if one was chosen. */
  winner?: string | undefined
}

/** The one skip that counts as a failure: the message could not be rendered. */
const templateFailed = 'template_failed'
/** The reason of users who get nothing, to compare the others with. Results count them under this name too. */
const holdout = 'holdout'

/** Rendering time of a batch. Devices that are not rendered by then form another batch, so that other jobs get a turn. */
export const renderMs = 1_000

/** A draft before its rendering: the recipients that pass, and how their contents complete it. */
interface Plan {
  rendering: Rendering
  recipients: Recipient[]
  texts: (string | undefined)[]
  finish(rendered: Rendered[]): Drafts
}

/** Drafts the messages of a trigger to devices: checks their eligibility and renders for those that pass. */
export const draftMessages = (request: DraftRequest): Promise<Drafts> => draftAlone(request.trigger, planOf(request))

async function draftAlone(
  trigger: DraftRequest['trigger'],
  { rendering, recipients, texts, finish }: Plan
): Promise<Drafts> {
  return finish(await rendering.for(trigger, trigger.id)(recipients, Date.now() + renderMs, texts))
}

/**
 * Drafts the messages of several triggers of one project. Those with one recipient each are rendered together, each
 * recipient with the properties of its trigger: a request to the process that renders costs more than the rendering.
 */
export async function draftTogether(requests: DraftRequest[]): Promise<Drafts[]> {
  const plans = requests.map(planOf)
  const drafts: Drafts[] = []
  const alike = Map.groupBy(plans.keys(), (index) => {
    const { rendering, recipients } = plans[index]!
    return recipients.length === 1 ? rendering : index
  })
  for (const indexes of alike.values()) {
    const [first] = indexes as [number]
    if (indexes.length === 1) {
      drafts[first] = await draftAlone(requests[first]!.trigger, plans[first]!)
      continue
    }
    const recipients = indexes.map((index) => {
      const [recipient] = plans[index]!.recipients as [Recipient]
      return { ...recipient, own: { ...requests[index]!.trigger.properties, ...recipient.own } }
    })
    const render = plans[first]!.rendering.for({ properties: {} }, 'together')
    const texts = indexes.map((index) => plans[index]!.texts[0])
    const rendered = await render(recipients, Date.now() + renderMs, texts)
    for (const [place, index] of indexes.entries()) drafts[index] = plans[index]!.finish([rendered[place]!])
  }
  return drafts
}

function planOf({
  trigger,
  ready,
  recipients,
  endpoints,
  topics,
  quietHours,
  capped,
  notAfter,
  now = new Date(),
  winner
}: DraftRequest): Plan {
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
  const choices = reached.map(({ recipient }) => choose(recipient, winner))
  const finish = (rendered: Rendered[]): Drafts => {
    const messages: Draft[] = []
    for (const [index, { recipient, endpoint }] of reached.entries()) {
      const [content, choice] = [rendered[index]!, choices[index]!]
      if (content === 'late') defer(deferred, atOnce, recipient.device_id)
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
  const texts = choices.map(({ text }) => text)
  return { rendering, recipients: reached.map(({ recipient }) => recipient), texts, finish }
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
