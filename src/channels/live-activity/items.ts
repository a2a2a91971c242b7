import type { ActivityChange, ActivityStart } from '../../gateways/gateways.ts'
import { type CommonItem, commonOf, defined, readItems, type Target } from '../fields.ts'

export interface ActivityStartItem extends CommonItem {
  target: Target
  activity: ActivityStart
}

export interface ActivityChangeItem extends CommonItem {
  /** One running activity by its id, or the newest of a type on each device of a target. */
  which: { activityId: string } | { target: Target; attributesType: string }
  activity: ActivityChange
}

/** Apple demands an alert with every start; this one is sent where the caller gives none. */
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
    ...commonOf(reader)
  }))

export const parseActivityChanges = (body: unknown): ActivityChangeItem[] => {
  // One time for all items: phones ignore a change that is older than the last one they saw.
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
      ...commonOf(reader)
    }
  })
}
