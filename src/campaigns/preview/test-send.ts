import { type Content, type SendCommand, sendPushes, startActivities } from '../../channels/channels.ts'
import type { DeliveryResult, Messages } from '../../messages/messages.ts'
import type { Pool } from '../../platform/db/db.ts'
import { Refusal, Unavailable } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import {
  type Recipient,
  type Rendered,
  type Renderer,
  TemplateFailed,
  ValuesMissing
} from '../../templates/templates.ts'
import { loadRecipients } from '../audience/recipients-store.ts'
import { readTriggerRequest } from '../audience/request.ts'
import type { Campaign } from '../definition/definition.ts'
import { type Ready, readyOf } from '../versions.ts'

const mostDevices = 20
/** How long the messages wait for their turn to be rendered. */
const renderMs = 30_000

/**
 * Sends a campaign to chosen devices now, regardless of its segment, status and limits, so that its author sees it on a
 * phone first. Returns a delivery result for each device.
 */
export const createTestSend =
  ({ pool, messages, renderer }: { pool: Pool; messages: Pick<Messages, 'send'>; renderer: Renderer }) =>
  async (
    projectId: ProjectId,
    definition: Campaign,
    body: Wanted & { device_ids: string[]; properties?: Record<string, unknown> | undefined }
  ): Promise<DeliveryResult[]> => {
    const deviceIds = [...new Set(body.device_ids)]
    if (deviceIds.length === 0 || deviceIds.length > mostDevices)
      throw refused('device_ids', `must be 1 to ${mostDevices} devices`)
    const { properties } = readTriggerRequest({ properties: body.properties })
    const recipients = await loadRecipients(pool, projectId, deviceIds)
    const known = new Map(recipients.map((recipient) => [recipient.device_id, recipient]))
    const missing = deviceIds.findIndex((id) => !known.has(id))
    if (missing >= 0) throw refused(`device_ids[${missing}]`, `${deviceIds[missing]} is not a device of this project`)
    const ready = readyOf(renderer, projectId, definition)
    const readers = deviceIds.map((id) => known.get(id)!)
    const texts = readers.map((recipient) => textFor(recipient, ready, body))
    const { rendering } = ready.texts(body.step)
    const rendered = await rendering.for({ properties })(readers, Date.now() + renderMs, texts)
    const command = commandOf(deviceIds.map((deviceId, index) => contentOf(deviceId, rendered[index]!)))
    return (await messages.send(projectId, command)).results
  }

/** The text that is sent, instead of the one that each recipient would get. */
interface Wanted {
  step?: string | undefined
  variant?: string | undefined
  language?: string | undefined
}

function textFor(recipient: Recipient, { definition, texts }: Ready, { step, variant, language }: Wanted) {
  if (step !== undefined && !definition.steps?.some(({ id }) => id === step))
    throw refused('step', definition.steps ? oneOf(definition.steps.map(({ id }) => id)) : 'the campaign has no steps')
  const { choose, variants } = texts(step)
  if (variant !== undefined && !variants.includes(variant)) throw refused('variant', oneOf(variants))
  // As a device in that language would get it.
  const reader = language === undefined ? recipient : { ...recipient, facts: { locale_language: language } }
  return choose(reader, variant).text
}

const oneOf = (names: readonly string[]) =>
  names.length > 0 ? `must be one of ${names.join(', ')}` : 'the message has no variants'

interface Filled {
  target: { deviceId: string }
  content: Content
}

function contentOf(deviceId: string, content: Rendered): Filled {
  if (content === 'late') throw new Unavailable('The message could not be rendered in time.')
  if (content instanceof TemplateFailed)
    throw new Refusal('invalid_template', `The message cannot be rendered for ${deviceId}: ${content.message}`)
  return { target: { deviceId }, content: content instanceof ValuesMissing ? content.made : content }
}

/** A campaign has one kind of content for all of its recipients. */
function commandOf(filled: Filled[]): SendCommand {
  const common = { priority: 'high', ttlSeconds: undefined } as const
  const starts = filled.flatMap(({ target, content }) =>
    content.kind === 'activity-start' ? { target, activity: content.activity, ...common } : []
  )
  if (starts.length > 0) return startActivities(starts)
  return sendPushes(
    filled.flatMap(({ target, content }) =>
      content.kind === 'alert' ? { target, notification: content.notification, ...common } : []
    )
  )
}

const refused = (path: string, message: string) =>
  new Refusal('invalid_parameter', `${path}: ${message}`, [{ path, message }])
