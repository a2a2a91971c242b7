import { reach } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Content, Endpoint, FailureCode, SendCommand } from '../channel.ts'
import { draftItem } from '../drafting.ts'
import { devicesOf, findRecipients, type Recipient } from '../recipients.ts'
import { activityEndpointOf, startEndpoints } from './endpoints.ts'
import type { ActivityChangeItem, ActivityStartItem } from './items.ts'
import { findSubscriptions } from './subscriptions.ts'

/** The longest life of an activity. */
const ttlSeconds = 8 * 3_600
const tooMany = 'invalid_live_activity' as const

export const collapseId = (_content: Content, messageId: string): string => messageId

/** Content that is too large is not kept; lists show nothing of an activity. */
export function abridge(content: Content): Content {
  if (content.kind === 'alert') return content
  if (content.kind !== 'activity-start')
    return { kind: content.kind, activity: { contentState: {}, timestamp: content.activity.timestamp } }
  const { attributesType } = content.activity
  const none = { attributes: {}, contentState: {}, alert: { title: '', body: '' } }
  return { kind: 'activity-start', activity: { attributesType, ...none } }
}

/** Starts an activity on each iPhone of each target. */
export const startActivities = (items: ActivityStartItem[]): SendCommand => ({
  items,
  ttlSeconds,
  async draft(db, projectId, headings) {
    const targets = items.map(({ target }) => target)
    const recipients = await findRecipients(db, projectId, targets, tooMany)
    const types = [...new Set(items.map(({ activity }) => activity.attributesType))]
    const endpointOf = await startEndpoints(db, projectId, devicesOf(recipients), types)
    const subscriptionOf = await findSubscriptions(db, projectId, items)
    return items.map((item, index) => {
      const { activity } = item
      const subscription = subscriptionOf(item)
      const content: Content = { kind: 'activity-start', activity: { ...activity, ...subscription?.start } }
      return draftItem({ abridge, collapseId }, headings[index]!, content, recipients[index]!, (device) => {
        const endpoint = endpointOf(device, activity.attributesType)
        return typeof endpoint === 'string' ? endpoint : (subscription?.mismatch(device) ?? endpoint)
      })
    })
  }
})

interface Running {
  recipient: Recipient
  endpointOf(device: reach.ReachRow): Endpoint | FailureCode
}

/** Updates or ends running activities. */
export const changeActivities = (
  kind: 'activity-update' | 'activity-end',
  items: ActivityChangeItem[]
): SendCommand => ({
  items,
  ttlSeconds,
  async draft(db, projectId, headings) {
    const byId = await findById(db, projectId, items)
    const byTarget = await findByTarget(db, projectId, items)
    return items.map((item, index) => {
      const { recipient, endpointOf } = 'activityId' in item.which ? byId(item.which.activityId) : byTarget(item)
      return draftItem(
        { abridge, collapseId },
        headings[index]!,
        { kind, activity: item.activity },
        recipient,
        endpointOf
      )
    })
  }
})

/** The devices on which activities of these ids run. */
async function findById(db: Db, projectId: ProjectId, items: ActivityChangeItem[]) {
  const activityIds = items.flatMap(({ which }) => ('activityId' in which ? which.activityId : []))
  const running = await reach.findTokensOfActivities(db, projectId, activityIds)
  const byActivity = Map.groupBy(running, ({ activity_id }) => activity_id)
  const deviceIds = running.map(({ device_id }) => device_id)
  const devices = await reach.findReachOfDevices(db, projectId, deviceIds)
  const deviceOf = new Map(devices.map((device) => [device.id, device]))
  return (activityId: string): Running => {
    const tokens = new Map((byActivity.get(activityId) ?? []).map((token) => [token.device_id, token]))
    const own = [...tokens.keys()].flatMap((id) => deviceOf.get(id) ?? [])
    const reason = own.length === 0 ? ('NO_LIVE_ACTIVITY_TOKEN' as const) : null
    return {
      recipient: { userId: own[0]?.user_id ?? null, devices: own, reason },
      endpointOf: (device) => activityEndpointOf(device, tokens.get(device.id))
    }
  }
}

/** The newest activity of a type on each device of a target. */
async function findByTarget(db: Db, projectId: ProjectId, items: ActivityChangeItem[]) {
  const wanted = items.filter(({ which }) => 'target' in which)
  const targets = items.flatMap(({ which }) => ('target' in which ? which.target : []))
  const recipients = await findRecipients(db, projectId, targets, tooMany)
  const recipientOf = new Map(wanted.map((item, index) => [item, recipients[index]!]))
  const types = items.flatMap(({ which }) => ('target' in which ? which.attributesType : []))
  const tokens = await reach.findUpdateTokens(db, projectId, devicesOf(recipients), [...new Set(types)])
  const byDevice = Map.groupBy(tokens, ({ device_id }) => device_id)
  return (item: ActivityChangeItem): Running => {
    const type = 'attributesType' in item.which ? item.which.attributesType : ''
    // Tokens come newest first.
    const tokenOf = (device: reach.ReachRow) =>
      byDevice.get(device.id)?.find(({ attributes_type }) => attributes_type === type)
    return {
      recipient: recipientOf.get(item)!,
      endpointOf: (device) => activityEndpointOf(device, tokenOf(device))
    }
  }
}
