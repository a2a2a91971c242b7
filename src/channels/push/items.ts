import type { Notification } from '../../gateways/gateways.ts'
import { readItems } from '../../platform/fields.ts'
import { type CommonItem, defined, maxItems, readCommon, readTarget, type Target } from '../fields.ts'

export interface PushItem extends CommonItem {
  target: Target
  notification: Notification
}

const list = { name: 'push_notifications', most: maxItems, code: 'invalid_push_notification' } as const

/** The items of messages:send. One fault refuses the whole request and names its place. */
export const parsePushItems = (body: unknown): PushItem[] =>
  readItems(body, list, (reader) => {
    const target = readTarget(reader)
    const title = reader.text('title')
    const text = reader.text('body')
    if (title === undefined && text === undefined) throw reader.refuse('', 'must have a title or a body')
    const notification: Notification = defined({
      title,
      body: text,
      imageUrl: reader.url('image_url', 'http', 'https'),
      landingUrl: reader.url('landing_url'),
      data: reader.texts('data'),
      sound: reader.text('sound', 255),
      badge: reader.whole('badge', 2_147_483_647),
      channelId: reader.text('channel_id', 255),
      threadId: reader.text('thread_id', 255),
      collapseKey: reader.text('collapse_key', 255)
    })
    return { target, notification, ...readCommon(reader) }
  })
