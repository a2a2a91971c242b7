import { createHash } from 'node:crypto'
import type { reach } from '../../devices/devices.ts'
import { type GatewayName, isRegistered, payloadSize as measure, pushEndpoint } from '../../gateways/gateways.ts'
import type { Channel, Content, Endpoint, FailureCode, SendCommand } from '../channel.ts'
import { draftItem } from '../drafting.ts'
import { buryDeadTokens, laneOf, throughGateways } from '../gateway-dispatch.ts'
import { findRecipients } from '../recipients.ts'
import { type PushItem, parsePushItems } from './items.ts'
import { SendBody } from './schema.ts'

/** The longest time for which gateways keep a notification. */
const ttlSeconds = 28 * 86_400

/** The push token of a device; the reason if there is none. */
export const pushEndpointOf = (device: reach.ReachRow): Endpoint | FailureCode =>
  device.push_permission && isRegistered(device) ? pushEndpoint(device) : 'NO_PUSH_TOKEN'

/** Whether a platform takes the content. A browser must show every push, so it takes no silent one. */
export const canShow = (content: Content, platform: reach.ReachRow['platform']): boolean =>
  !(platform === 'WEB' && content.kind === 'alert' && content.notification.silent)

/** At most 64 bytes, as Apple demands. A key of the caller wins: it replaces what is shown under that key. */
function collapseId(content: Content, messageId: string): string {
  const key = content.kind === 'alert' ? content.notification.collapseKey : undefined
  if (key === undefined) return messageId
  return Buffer.byteLength(key) <= 64 ? key : createHash('sha256').update(key).digest('hex')
}

/** Sends a notification to each device of each target. */
export const sendPushes = (items: PushItem[]): SendCommand => ({
  items,
  ttlSeconds,
  async draft(db, projectId, headings) {
    const targets = items.map(({ target }) => target)
    const recipients = await findRecipients(db, projectId, targets, 'invalid_push_notification')
    return items.map(({ notification }, index) => {
      const content: Content = { kind: 'alert', notification }
      return draftItem(push, headings[index]!, content, recipients[index]!, (device) =>
        canShow(content, device.platform) ? pushEndpointOf(device) : 'UNSUPPORTED_PLATFORM'
      )
    })
  }
})

/** Notifications to phones and browsers. */
export const push: Channel = {
  kinds: ['alert'],
  routes: [
    {
      path: '/messages::send',
      scope: 'messages:send',
      summary: 'Send push notifications now',
      body: SendBody,
      invalid: 'Invalid push notification parameters',
      example: {
        push_notifications: [
          { target: { project_user_id: 'ana' }, title: 'Your order is on its way', body: 'It arrives tomorrow.' }
        ]
      },
      parse: (body) => sendPushes(parsePushItems(body))
    }
  ],
  findEndpoints: async (_db, _projectId, messages, devices) =>
    new Map(
      messages.map((message) => {
        const device = devices.get(message.device_id)
        return [message, device ? pushEndpointOf(device) : 'NO_DEVICE']
      })
    ),
  collapseId,
  abridge: (content) =>
    content.kind === 'alert'
      ? { kind: 'alert', notification: { title: (content.notification.title ?? '').slice(0, 200) } }
      : content,
  heading: (content) => (content.kind === 'alert' ? content.notification : {}),
  lane: laneOf,
  dispatch: throughGateways,
  settled: buryDeadTokens
}

/** The bytes that a gateway would count of this content, and its limit. */
export const payloadSize = (gateway: GatewayName, content: Content) =>
  measure(gateway, content, (messageId) => collapseId(content, messageId))
