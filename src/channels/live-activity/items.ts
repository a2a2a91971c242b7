import type { ActivityChange, ActivityStart } from '../../gateways/gateways.ts'
import type { Refusal } from '../../platform/errors.ts'
import { FieldReader, isObject, readItems, refusing } from '../../platform/fields.ts'
import {
  activityBounds,
  type CommonItem,
  defined,
  maxItems,
  readAlert,
  readCommon,
  readTarget,
  type Target
} from '../fields.ts'

export interface ActivityStartItem extends CommonItem {
  target: Target
  activity: ActivityStart
  /** The broadcast channel that the activity subscribes to. */
  channel?: {
    id: string
    /** The activity starts with the newest state of the channel: the item has none. */
    takesState: boolean
    /** Refuses the item. */
    refuse: (message: string) => Refusal
  }
}

export interface ActivityChangeItem extends CommonItem {
  /** One running activity by its id, or the newest of a type on each device of a target. */
  which: { activityId: string } | { target: Target; attributesType: string }
  activity: ActivityChange
}

const list = { name: 'live_activities', most: maxItems, code: 'invalid_live_activity' } as const

/** Apple demands an alert with every start; this one is sent if the caller gives none. */
const startAlert = { title: 'Live Activity', body: 'Started' }

export const parseActivityStarts = (body: unknown): ActivityStartItem[] =>
  readItems(body, list, (reader) => {
    const channelId = reader.text('channel_id', 255)
    const takesState = channelId !== undefined && !reader.has('content_state')
    return defined({
      target: readTarget(reader),
      activity: {
        attributesType: reader.required('attributes_type', 255),
        attributes: reader.json('attributes', activityBounds),
        contentState: takesState ? {} : reader.json('content_state', activityBounds),
        alert: readAlert(reader) ?? startAlert
      },
      channel:
        channelId === undefined
          ? undefined
          : { id: channelId, takesState, refuse: (message: string) => reader.refuse('channel_id', message) },
      ...readCommon(reader)
    }) as ActivityStartItem
  })

/** A change of a broadcast channel, without its time: that is given when it is handed over. */
export interface ChannelChange extends CommonItem {
  activity: Omit<ActivityChange, 'timestamp'>
}

export function parseChannelChange(body: unknown): ChannelChange {
  const refuse = refusing('invalid_live_activity')
  if (!isObject(body)) throw refuse('body', 'must be an object')
  // The whole body is the item, so its fields stand alone in the refusals.
  const reader = new FieldReader(body, '', (path, message) => refuse(path.replace(/^\./, '') || 'body', message))
  return { activity: readChange(reader), ...readCommon(reader) }
}

const readChange = (reader: FieldReader) =>
  defined({
    contentState: reader.json('content_state', activityBounds),
    staleDate: reader.seconds('stale_date'),
    dismissalDate: reader.seconds('dismissal_date'),
    alert: readAlert(reader)
  })

export const parseActivityChanges = (body: unknown): ActivityChangeItem[] => {
  // One time for all items: phones ignore a change that is older than the last one they saw.
  const timestamp = Math.floor(Date.now() / 1000)
  return readItems(body, list, (reader) => {
    const byId = reader.has('activity_id')
    if (byId && reader.has('target')) throw reader.refuse('', 'must have either activity_id or target')
    return {
      which: byId
        ? { activityId: reader.required('activity_id', 255) }
        : { target: readTarget(reader), attributesType: reader.required('attributes_type', 255) },
      activity: { ...readChange(reader), timestamp },
      ...readCommon(reader)
    }
  })
}
