import type { InboxItem } from '../../../../wire.ts'
import { ActivityCard, NotificationCard, type Platform, Screen } from '../../parts/phone/phone.tsx'
import { activitiesOf, activityOf } from './activities.ts'
import { isAccepted } from './inbox.ts'

/** The lock screen of a device with what arrived on it. `items` are newest first. */
export function Phone({
  platform,
  label,
  items,
  open
}: {
  platform: Platform
  label: string
  items: InboxItem[]
  open: (item: InboxItem) => void
}) {
  const alerts = items.filter((item) => isAccepted(item) && !activityOf(item)).slice(0, 20)
  return (
    <Screen platform={platform} label={`Lock screen of ${label}`}>
      {activitiesOf(items).map((activity) => (
        <ActivityCard key={activity.id} {...activity} id={activity.channel === undefined ? activity.id : undefined} />
      ))}
      {alerts.map((item) => (
        <NotificationCard key={item.id} {...item} message={item.message_id} open={() => open(item)} />
      ))}
    </Screen>
  )
}
