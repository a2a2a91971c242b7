import { useEffect, useRef } from 'react'
import type { InboxItem } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { isAccepted } from './inbox.ts'

/** The Live Activity part of a payload. APNs and FCM put it in different places. */
export interface ActivityPush {
  event: 'start' | 'update' | 'end'
  type: string | undefined
  state: Record<string, unknown>
}

export function activityOf({ request: { payload } }: InboxItem): ActivityPush | undefined {
  const at = (value: unknown, name: string) =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  const aps = at(payload, 'aps') ?? at(at(at(at(payload, 'message'), 'apns'), 'payload'), 'aps')
  const event = at(aps, 'event')
  if (event !== 'start' && event !== 'update' && event !== 'end') return undefined
  const type = at(aps, 'attributes-type')
  return {
    event,
    type: typeof type === 'string' ? type : undefined,
    state: (at(aps, 'content-state') as Record<string, unknown> | undefined) ?? {}
  }
}

/**
 * An app reports a token for each activity that a push started. The simulated phones do the same: activity and token are
 * named after the message that started them.
 */
const tokenOf = (activityId: string) => `sim-ok-${activityId}`
const nameOf = ({ message_id, id }: InboxItem) => message_id ?? id

interface Running {
  id: string
  type: string
  state: Record<string, unknown>
  /** The channel that it listens to; undefined if it has a token of its own. */
  channel: string | undefined
}

/** Whether a push is a change of all activities that listen to a channel. */
export const isBroadcast = ({ device_id, channel_id }: InboxItem) => device_id === null && channel_id !== undefined

/**
 * The Live Activities that run on a device, with their latest state. `items` are newest first: the pushes to the device,
 * and all broadcasts.
 */
export function activitiesOf(items: InboxItem[]): Running[] {
  const shown = new Map<string, Running>()
  for (const item of items.toReversed()) {
    const push = isAccepted(item) ? activityOf(item) : undefined
    if (push?.event === 'start') {
      const [id, type] = [nameOf(item), push.type ?? 'Live Activity']
      shown.set(id, { id, type, state: push.state, channel: item.channel_id })
    }
    const isMeant = ({ id, channel }: Running) =>
      isBroadcast(item) ? channel === item.channel_id : item.request.path.endsWith(tokenOf(id))
    const changed = push && push.event !== 'start' ? [...shown.values()].filter(isMeant) : []
    for (const one of changed)
      if (push?.event === 'end') shown.delete(one.id)
      else one.state = { ...one.state, ...push?.state }
  }
  return [...shown.values()]
}

/** Reports the token of each started activity once. Without it the activity cannot be updated or ended. */
export function useActivityTokens(items: InboxItem[]): void {
  const projectId = useProjectId()
  const canReport = useHasRole('editor')
  const reported = useRef(new Set<string>())
  useEffect(() => {
    for (const item of canReport ? items : []) {
      const push = activityOf(item)
      if (push?.event !== 'start' || !isAccepted(item) || !item.device_id || reported.current.has(item.id)) continue
      // An activity that listens to a channel gets no token.
      if (item.channel_id !== undefined) continue
      reported.current.add(item.id)
      const path = `/api/v1/devices/${encodeURIComponent(item.device_id)}/live-activity-update-tokens`
      const body = { attributes_type: push.type, activity_id: nameOf(item), push_token: tokenOf(nameOf(item)) }
      project(projectId, 'POST', path, { body }).catch(() => reported.current.delete(item.id))
    }
  }, [items, canReport, projectId])
}
