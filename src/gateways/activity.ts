import type { ActivityChange, ActivityStart, Content, Push } from './push.ts'

export type ActivityContent = Exclude<Content, { kind: 'alert' }>

export const isActivity = (content: Push['content']): content is ActivityContent => content.kind.startsWith('activity-')

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)

/** The `aps` of a Live Activity, the same whether the service sends it to Apple directly or through Firebase. */
export const activityAps = (content: ActivityContent, now: number): Record<string, unknown> =>
  content.kind === 'activity-start' ? start(content.activity, now) : change(content.kind, content.activity)

const start = ({ attributesType, attributes, contentState, alert, channel }: ActivityStart, now: number) => ({
  timestamp: seconds(now),
  event: 'start',
  'attributes-type': attributesType,
  attributes,
  'content-state': contentState,
  alert,
  // From iOS 18 on the new activity subscribes to a channel, or gets a token of its own, which the app registers.
  ...(channel === undefined ? { 'input-push-token': 1 } : { 'input-push-channel': channel })
})

const change = (kind: 'activity-update' | 'activity-end', activity: ActivityChange) => ({
  timestamp: activity.timestamp,
  event: kind === 'activity-end' ? 'end' : 'update',
  'content-state': activity.contentState,
  ...(activity.alert && { alert: activity.alert }),
  ...(activity.staleDate !== undefined && { 'stale-date': activity.staleDate }),
  ...(kind === 'activity-end' && activity.dismissalDate !== undefined && { 'dismissal-date': activity.dismissalDate })
})
