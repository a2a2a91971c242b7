import type { ActivityChange, ActivityStart, Notification } from '../gateways/gateways.ts'
import { type Reader, readItems, type Target } from './fields.ts'

interface Common {
  priority: 'high' | 'normal'
  /** Absent: the usual one. */
  ttlSeconds: number | undefined
}

export interface PushItem extends Common {
  target: Target
  notification: Notification
}

export interface ActivityStartItem extends Common {
  target: Target
  activity: ActivityStart
}

export interface ActivityChangeItem extends Common {
  /** One running activity by its id, or the newest of a type on each device of a target. */
  which: { activityId: string } | { target: Target; attributesType: string }
  activity: ActivityChange
}

const common = (reader: Reader): Common => ({ priority: reader.priority(), ttlSeconds: reader.ttlSeconds() })

/** The items of messages:send. One fault, and the whole request is refused with the place of it. */
export const parsePushItems = (body: unknown): PushItem[] =>
  readItems(body, 'push_notifications', 'invalid_push_notification', (reader) => {
    const target = reader.target()
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
    return { target, notification, ...common(reader) }
  })

/** Apple wants an alert with every start; this is what it says where the caller gives none. */
const startAlert = { title: 'Live Activity', body: 'Started' }

export const parseActivityStarts = (body: unknown): ActivityStartItem[] =>
  readItems(body, 'live_activities', 'invalid_live_activity', (reader) => ({
    target: reader.target(),
    activity: {
      attributesType: reader.required('attributes_type', 255),
      attributes: reader.object('attributes'),
      contentState: reader.object('content_state'),
      alert: reader.alert() ?? startAlert
    },
    ...common(reader)
  }))

export const parseActivityChanges = (body: unknown): ActivityChangeItem[] => {
  // One time for all: phones ignore a change that is older than the last one they saw.
  const timestamp = Math.floor(Date.now() / 1000)
  return readItems(body, 'live_activities', 'invalid_live_activity', (reader) => {
    const byId = reader.has('activity_id')
    if (byId && reader.has('target')) throw reader.refuse('', 'must have either activity_id or target')
    return {
      which: byId
        ? { activityId: reader.required('activity_id', 255) }
        : { target: reader.target(), attributesType: reader.required('attributes_type', 255) },
      activity: defined({
        contentState: reader.object('content_state'),
        timestamp,
        staleDate: reader.seconds('stale_date'),
        dismissalDate: reader.seconds('dismissal_date'),
        alert: reader.alert()
      }),
      ...common(reader)
    }
  })
}

type Defined<Fields> = { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>
}

/** Without the fields that are absent: what is stored and sent has no empty places. */
const defined = <Fields extends object>(fields: Fields): Defined<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>
