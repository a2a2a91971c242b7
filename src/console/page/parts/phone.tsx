import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { activitiesOf, activityOf } from '../pages/lab/activities.ts'
import { arrived, type InboxItem } from '../pages/lab/inbox.ts'
import classes from './phone.module.css'

export type Platform = 'IOS' | 'ANDROID' | 'WEB'

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const looks: Record<Platform, string> = { IOS: '', ANDROID: classes.android ?? '', WEB: classes.browser ?? '' }

export interface Shown {
  title?: string | null
  body?: string | null
  image_url?: string | null
}

/** What a person reads of a notification. */
export const NotificationText = ({ title, body, image_url }: Shown) => (
  <>
    {title && (
      <Text fw={600} size="sm" lineClamp={2}>
        {title}
      </Text>
    )}
    {body && (
      <Text size="sm" lineClamp={4}>
        {body}
      </Text>
    )}
    {image_url &&
      (image_url.startsWith('https:') ? (
        <img className={classes.picture} src={image_url} alt="" loading="lazy" />
      ) : (
        // The page loads nothing over an open line; a phone may.
        <Text size="xs">Image: {image_url}</Text>
      ))}
  </>
)

/** A notification as it lies on a screen; with `open` it can be tapped. */
export const NotificationCard = ({
  open,
  message,
  ...shown
}: Shown & { open?: () => void; message?: string | null }) =>
  open ? (
    <button type="button" className={classes.card} data-message={message} onClick={open}>
      <NotificationText {...shown} />
    </button>
  ) : (
    <div className={classes.card}>
      <NotificationText {...shown} />
    </div>
  )

/** A Live Activity as it lies on a screen: its state, in words. */
export const ActivityCard = ({ id, type, state }: { id?: string; type: string; state: object }) => (
  <div className={classes.activity} data-activity={type}>
    <Text size="xs" c="gray.4">
      {type}
    </Text>
    {Object.entries(state).map(([name, value]) => (
      <Text key={name} size="sm">
        {name}: <b>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</b>
      </Text>
    ))}
    {id && (
      <Text size="xs" c="gray.4">
        activity_id {id}
      </Text>
    )}
  </div>
)

/** The screen of a phone, or of a browser. */
export const Screen = ({
  platform,
  label,
  small = false,
  children
}: {
  platform: Platform
  label: string
  small?: boolean
  children: ReactNode
}) => (
  <section className={`${classes.phone} ${looks[platform]} ${small ? classes.small : ''}`} aria-label={label}>
    <div className={classes.clock}>{clock.format(new Date())}</div>
    <div className={classes.cards} aria-live="polite">
      {children}
    </div>
  </section>
)

/** A phone's lock screen (or a browser) with what arrived on it. `items` are newest first. */
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
  const alerts = items.filter((item) => arrived(item) && !activityOf(item)).slice(0, 20)
  return (
    <Screen platform={platform} label={`Lock screen of ${label}`}>
      {activitiesOf(items).map((activity) => (
        <ActivityCard key={activity.id} {...activity} />
      ))}
      {alerts.map((item) => (
        <NotificationCard key={item.id} {...item} message={item.message_id} open={() => open(item)} />
      ))}
    </Screen>
  )
}

/** Phones side by side, as many as there is room for. */
export const PhoneRow = ({ children }: { children: ReactNode }) => <div className={classes.row}>{children}</div>
