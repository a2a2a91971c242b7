import { isObject } from '../../platform/fields.ts'
import type { InboxItem } from '../fleet/inbox-item.ts'
import { activityOf } from './activity.ts'
import type { ActivityRow } from './activity-store.ts'
import type { PhoneRow, ScreenRow } from './store.ts'

/** What a person sees of a simulated phone. */
export interface Phone {
  offline_since: Date | null
  uninstalled_at: Date | null
  /** Pushes that the gateway holds until the phone is online. */
  held: number
  /** When the newest notification arrived. */
  received_at: string | null
  /** Newest first. */
  notifications: ReturnType<typeof shownPush>[]
  activities: ReturnType<typeof shownActivity>[]
}

/** The newest notifications that a screen shows; older ones are hidden below. */
const mostShown = 20

export function phoneOf(state: PhoneRow | undefined, pushes: ScreenRow[], activities: ActivityRow[]): Phone {
  const read = pushes.map((row) => ({ row, item: JSON.parse(row.item) as InboxItem }))
  const accepted = read.filter(({ item }) => item.answer.status >= 200 && item.answer.status < 300)
  const arrived = accepted.filter(({ row }) => row.phone !== 'held')
  const visible = arrived.filter(({ item }) => !item.silent && !activityOf(item))
  const newest = arrived[0]
  return {
    offline_since: state?.offline_since ?? null,
    uninstalled_at: state?.uninstalled_at ?? null,
    held: accepted.length - arrived.length,
    received_at: newest ? arrivalOf(newest) : null,
    notifications: withoutReplaced(visible).slice(0, mostShown).map(shownPush),
    activities: activities.map(shownActivity)
  }
}

const arrivalOf = ({ row, item }: { row: ScreenRow; item: InboxItem }) =>
  row.phone_at?.toISOString() ?? item.received_at

/** A notification replaces an older one with the same collapse id or tag. */
function withoutReplaced<Push extends { item: InboxItem }>(newestFirst: Push[]): Push[] {
  const seen = new Set<string>()
  return newestFirst.filter(({ item }) => {
    const tag = tagOf(item)
    if (tag === undefined) return true
    const first = !seen.has(tag)
    seen.add(tag)
    return first
  })
}

function tagOf({ gateway, request: { headers, payload } }: InboxItem): string | undefined {
  if (gateway === 'apns') return headers['apns-collapse-id']
  const at = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined)
  const tag =
    gateway === 'webpush' ? at(payload, 'tag') : at(at(at(at(payload, 'message'), 'android'), 'notification'), 'tag')
  return typeof tag === 'string' ? tag : undefined
}

const shownPush = ({ row, item }: { row: ScreenRow; item: InboxItem }) => ({
  id: item.id,
  message_id: item.message_id,
  title: item.title,
  body: item.body,
  image_url: item.image_url,
  landing_url: item.landing_url,
  buttons: item.buttons ?? [],
  received_at: arrivalOf({ row, item })
})

const shownActivity = ({ id, type, channel, state, started_at }: ActivityRow) => ({
  activity_id: id,
  attributes_type: type,
  channel_id: channel,
  state,
  started_at: started_at.toISOString()
})
