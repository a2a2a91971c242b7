import type { reach } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import { readEach } from '../../platform/fields.ts'
import { isUuid, type ProjectId } from '../../platform/ids.ts'
import type { FailureCode } from '../channel.ts'
import { type ChannelRow, findChannels } from './channel-store.ts'
import type { ActivityStartItem } from './items.ts'

interface Subscription {
  /** The parts of the start that the channel decides. */
  start: { channel: string; contentState?: object }
  /** The reason why an activity on this device cannot listen to the channel. */
  mismatch(device: reach.ReachRow): FailureCode | undefined
}

/** Finds the broadcast channels that starts name, and refuses the items whose channel is not there or does not fit. */
export async function findSubscriptions(
  db: Db,
  projectId: ProjectId,
  items: ActivityStartItem[]
): Promise<(item: ActivityStartItem) => Subscription | undefined> {
  const wanted = items.filter(({ channel }) => channel !== undefined)
  if (wanted.length === 0) return () => undefined
  const ids = [...new Set(wanted.map(({ channel }) => channel!.id.toLowerCase()))].filter(isUuid)
  const known = new Map((await findChannels(db, projectId, ids)).map((row) => [row.id, row]))
  const subscriptions = readEach(wanted, (item) => subscriptionOf(item, known.get(item.channel!.id.toLowerCase())))
  const byItem = new Map(wanted.map((item, index) => [item, subscriptions[index]!]))
  return (item) => byItem.get(item)
}

function subscriptionOf({ activity, channel }: ActivityStartItem, row: ChannelRow | undefined): Subscription {
  const { refuse, takesState } = channel!
  if (!row || row.state === 'deleting') throw refuse('names no channel of this project')
  if (row.apns_channel_id === null) throw refuse('names a channel that Apple has not created')
  if (row.attributes_type !== activity.attributesType)
    throw refuse(`names a channel for activities of the type ${row.attributes_type}`)
  if (takesState && row.content_state === null)
    throw refuse('names a channel without a state yet, so content_state must be given')
  return {
    start: { channel: row.apns_channel_id, ...(takesState && { contentState: row.content_state! }) },
    mismatch: ({ app_identifier: app, environment }) =>
      (app !== null && app !== row.app) || (environment !== null && environment !== row.environment)
        ? 'CHANNEL_MISMATCH'
        : undefined
  }
}
