import type { Outcome, Push } from '../gateways/gateways.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { MessageRow } from './message.ts'
import type { Recording } from './settle.ts'

// What a row is to the sender, and what an outcome means for the tokens of its device.

export function pushOf(projectId: ProjectId, row: MessageRow, urgent = false): Push {
  const { deviceId, gateway, environment, app, token, activityToken, registeredAt } = row.target!
  return {
    projectId,
    messageId: row.message_id,
    pushId: row.push_id,
    deviceId,
    gateway,
    environment,
    app,
    token,
    ...(activityToken !== undefined && { activityToken }),
    registeredAt,
    content: row.content,
    collapseId: row.collapse_id,
    priority: row.priority,
    notAfter: row.not_after.getTime(),
    repeat: row.attempts > 0,
    urgent
  }
}

export function deadTokenOf(row: MessageRow, outcome: Outcome): Recording['deadToken'] {
  if (outcome.kind !== 'rejected' || !outcome.tokenDeadAsOf || !row.target) return undefined
  const { deviceId, token, activity, gateway } = row.target
  const isActivity = activity !== undefined && gateway === 'apns'
  return { deviceId, token, asOf: outcome.tokenDeadAsOf, reason: outcome.reason, isActivity }
}

/** From now on no update goes there, also where a dismissal date keeps it on the screen for a while. */
export function endedActivityOf({
  content,
  device_id,
  activity_type,
  activity_id
}: MessageRow): Recording['endedActivity'] {
  if (content.kind !== 'activity-end' || activity_type === null || !activity_id) return undefined
  return { deviceId: device_id, type: activity_type, id: activity_id }
}
