import { type List, listOf } from './pages.ts'
import type { CallOptions, Input, Transport } from './request.ts'
import type {
  DeliveryResult,
  LiveActivityChange,
  LiveActivityChannel,
  LiveActivityChannelChange,
  LiveActivityChannelWithChange,
  LiveActivityStart,
  Message,
  MessageEntry,
  PushNotification
} from './schemas.ts'

/** `expandDevices`: each result also lists its devices. */
export type SendOptions = CallOptions & { expandDevices?: boolean | undefined }

const expanded = ({ expandDevices }: SendOptions = {}) => (expandDevices ? { query: { expand: 'devices' } } : {})

/** Push notifications, sent now or at `send_at`. */
export function messagesOf(transport: Transport) {
  const { call } = transport
  const of = (message_id: string) => ({ path: { message_id } })
  return {
    /** Sends up to 1,000 notifications; 500 are recommended. One result for each, in order. One bad item, and none is sent. */
    async send(notifications: PushNotification[], options?: SendOptions): Promise<DeliveryResult[]> {
      const input = { body: { push_notifications: notifications }, ...expanded(options) }
      return (await call('sendMessages', input, options)).delivery_results
    },
    get: (messageId: string, options?: CallOptions): Promise<Message> => call('getMessage', of(messageId), options),
    /** Cancels a message that waits for its `send_at`. */
    cancel: (messageId: string, options?: CallOptions): Promise<Message> =>
      call('cancelMessage', of(messageId), { ...options, repeats: 'always' }),
    /** Messages, one entry for each device, newest first. */
    list: (filter: Input<'listMessages'>['query'] = {}, options?: CallOptions): List<MessageEntry> =>
      listOf(transport, 'listMessages', { query: filter }, options)
  }
}

/** Live Activities on iPhones, one by one or by broadcast channels. */
export function liveActivitiesOf(transport: Transport) {
  const { call } = transport
  const change =
    (operation: 'updateLiveActivities' | 'endLiveActivities') =>
    async (activities: LiveActivityChange[], options?: SendOptions): Promise<DeliveryResult[]> => {
      const input = { body: { live_activities: activities }, ...expanded(options) }
      return (await call(operation, input, options)).delivery_results
    }
  return {
    /** Starts Live Activities. One result for each, in order. */
    async start(activities: LiveActivityStart[], options?: SendOptions): Promise<DeliveryResult[]> {
      const input = { body: { live_activities: activities }, ...expanded(options) }
      return (await call('startLiveActivities', input, options)).delivery_results
    },
    /** Changes running Live Activities. */
    update: change('updateLiveActivities'),
    end: change('endLiveActivities'),
    channels: channelsOf(transport)
  }
}

function channelsOf(transport: Transport) {
  const { call } = transport
  const of = (channel_id: string) => ({ path: { channel_id } })
  const change =
    (operation: 'updateLiveActivityChannel' | 'endLiveActivityChannel') =>
    async (channelId: string, body: LiveActivityChannelChange, options?: SendOptions): Promise<DeliveryResult> => {
      const input = { ...of(channelId), body, ...expanded(options) }
      return (await call(operation, input, options)).delivery_results[0]!
    }
  return {
    create: (
      channel: Input<'createLiveActivityChannel'>['body'],
      options?: CallOptions
    ): Promise<LiveActivityChannel> => call('createLiveActivityChannel', { body: channel }, options),
    list: (options?: CallOptions): List<LiveActivityChannel> =>
      listOf(transport, 'listLiveActivityChannels', {}, options),
    /** The channel with its newest change. */
    get: (channelId: string, options?: CallOptions): Promise<LiveActivityChannelWithChange> =>
      call('getLiveActivityChannel', of(channelId), options),
    async delete(channelId: string, options?: CallOptions): Promise<void> {
      await call('deleteLiveActivityChannel', of(channelId), options)
    },
    /** Changes all Live Activities of a channel, by one request to Apple. */
    update: change('updateLiveActivityChannel'),
    /** Ends all Live Activities of a channel. */
    end: change('endLiveActivityChannel')
  }
}
