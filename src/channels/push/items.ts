import type { Notification } from '../../gateways/gateways.ts'
import { checkAddress, readItems, refusing } from '../../platform/fields.ts'
import { readSendAt } from '../../platform/time.ts'
import { type CommonItem, checkTargetId, defined, maxItems, readCommon, readTarget, type Target } from '../fields.ts'
import { readRich, refuseSilent } from './rich.ts'

export interface PushItem extends CommonItem {
  target: Target
  notification: Notification
  /** Not before this. Absent: at once. */
  sendAt?: Date
}

/** A command. Its refusals name its fields as they stand here. An empty text counts as absent. */
export interface SendPush {
  target: Target
  title?: string
  body?: string
  imageUrl?: string
  landingUrl?: string
}

const invalid = refusing('invalid_push_notification')
const web = ['http', 'https']

/** The item of a command. */
export function checkSendPush({ target, title, body, imageUrl, landingUrl }: SendPush): PushItem {
  const refuse = (field: string) => (message: string) => invalid(field, message)
  for (const [field, id] of Object.entries(target)) checkTargetId(id, field === 'projectUserId', refuse(field))
  if (!title && !body) throw invalid('title', 'must be given, or a body')
  const notification: Notification = defined({
    title: title || undefined,
    body: body || undefined,
    imageUrl: imageUrl ? checkAddress(imageUrl, web, refuse('imageUrl')) : undefined,
    landingUrl: landingUrl ? checkAddress(landingUrl, [], refuse('landingUrl')) : undefined
  })
  return { target, notification, priority: 'high', ttlSeconds: undefined }
}

const list = { name: 'push_notifications', most: maxItems, code: 'invalid_push_notification' } as const

/** The items of messages:send. One fault refuses the whole request and names its place. */
export const parsePushItems = (body: unknown): PushItem[] =>
  readItems(body, list, (reader) => {
    const target = readTarget(reader)
    const title = reader.text('title')
    const text = reader.text('body')
    const rich = readRich(reader)
    if (title === undefined && text === undefined && !rich.silent)
      throw reader.refuse('', 'must have a title or a body')
    const notification: Notification = defined({
      title,
      body: text,
      imageUrl: reader.url('image_url', ...web),
      landingUrl: reader.url('landing_url'),
      data: reader.texts('data'),
      sound: reader.text('sound', 255),
      badge: reader.whole('badge', 2_147_483_647),
      channelId: reader.text('channel_id', 255),
      threadId: reader.text('thread_id', 255),
      collapseKey: reader.text('collapse_key', 255),
      ...rich
    })
    refuseSilent(reader, notification)
    const sendAt = reader.text('send_at')
    const at = sendAt === undefined ? undefined : readSendAt(sendAt, (message) => reader.refuse('send_at', message))
    return { target, notification, ...readCommon(reader), ...(at && { sendAt: at }) }
  })
