import type { Channel, Content, SendRoute } from './channel.ts'
import { liveActivity } from './live-activity/live-activity.ts'
import { push } from './push/push.ts'

export type {
  Carriers,
  Channel,
  Content,
  Dispatch,
  Draft,
  Drafted,
  End,
  Endpoint,
  Envelope,
  FailureCode,
  Heading,
  SendCommand,
  SendRoute,
  Undeliverable
} from './channel.ts'
export { startActivities } from './live-activity/commands.ts'
export { findStartEndpoints } from './live-activity/endpoints.ts'
export { type ChannelChange, parseChannelChange } from './live-activity/items.ts'
export { ChannelChangeBody } from './live-activity/schema.ts'
export { checkSendPush, type PushItem, type SendPush } from './push/items.ts'
export { canShow, payloadSize, pushEndpointOf, sendPushes } from './push/push.ts'

/** Every channel. A new one is a folder and a name in this list. */
const channels: readonly Channel[] = [push, liveActivity]

const byKind = new Map(channels.flatMap((channel) => channel.kinds.map((kind) => [kind, channel] as const)))

export const channelOf = ({ kind }: Content): Channel => byKind.get(kind)!

/** The routes of all channels by which callers send directly. */
export const sendRoutes: readonly SendRoute[] = channels.flatMap(({ routes }) => routes)
