import type { reach } from '../devices/devices.ts'
import type { Channel, Content, Draft, Drafted, Endpoint, FailureCode, Heading } from './channel.ts'
import type { Recipient } from './recipients.ts'

/** No gateway takes nearly as much, so larger content is not copied for every device. */
const maxContentBytes = 16 * 1024

/** If several devices lack an endpoint, the device closest to having one gives the reason. */
const nearest: FailureCode[] = ['CHANNEL_MISMATCH', 'NO_LIVE_ACTIVITY_TOKEN', 'NO_PUSH_TOKEN', 'UNSUPPORTED_PLATFORM']

/** Drafts the messages of one item: one for each device of the recipient that has an endpoint. */
export function draftItem(
  { abridge, collapseId }: Pick<Channel, 'abridge' | 'collapseId'>,
  heading: Heading,
  content: Content,
  { userId, devices, reason }: Recipient,
  endpointOf: (device: reach.ReachRow) => Endpoint | FailureCode
): Drafted {
  const found = devices.map((device) => [device, endpointOf(device)] as const)
  const drafts = found.flatMap(([device, endpoint]): Draft | [] => {
    if (typeof endpoint === 'string') return []
    const ids = { triggerId: heading.messageId, campaignId: null, userId: device.user_id }
    return { ...heading, ...ids, endpoint, content, collapseId: collapseId(content, heading.messageId) }
  })
  const tooLarge = Buffer.byteLength(JSON.stringify(content)) > maxContentBytes
  if (drafts.length > 0 && !tooLarge) return drafts
  const causes = new Set(found.flatMap(([, endpoint]) => (typeof endpoint === 'string' ? endpoint : [])))
  const cause = nearest.find((code) => causes.has(code))
  return {
    messageId: heading.messageId,
    userId,
    deviceId: devices.length === 1 ? devices[0]!.id : '',
    content: tooLarge ? abridge(content) : content,
    reason: drafts.length > 0 ? 'PAYLOAD_TOO_LARGE' : (reason ?? cause ?? 'NO_PUSH_TOKEN')
  }
}
