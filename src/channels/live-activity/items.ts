import type { ActivityChange, ActivityStart } from '../../gateways/gateways.ts'
import { readItems } from '../../platform/fields.ts'
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
  readItems(body, list, (reader) => ({
    target: readTarget(reader),
    activity: {
      attributesType: reader.required('attributes_type', 255),
      attributes: reader.json('attributes', activityBounds),
      contentState: reader.json('content_state', activityBounds),
      alert: readAlert(reader) ?? startAlert
    },
    ...readCommon(reader)
  }))

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
      activity: defined({
        contentState: reader.json('content_state', activityBounds),
        timestamp,
        staleDate: reader.seconds('stale_date'),
        dismissalDate: reader.seconds('dismissal_date'),
        alert: readAlert(reader)
      }),
      ...readCommon(reader)
    }
  })
}
