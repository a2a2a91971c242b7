import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Device } from '../../../wire.ts'
import classes from './phone.module.css'

export type Platform = Device['platform']

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const looks: Record<Platform, string> = { IOS: '', ANDROID: classes.android ?? '', WEB: classes.browser ?? '' }

export interface Shown {
  title?: string | null
  body?: string | null
  image_url?: string | null
}

/** The text and the image of a notification. */
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
        // The content security policy allows images over https only. A phone may load others.
        <Text size="xs">Image: {image_url}</Text>
      ))}
  </>
)

/** A notification on a lock screen. With `open` it is a button. */
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

/** A Live Activity on a lock screen, with its state as text. */
export const ActivityCard = ({
  id,
  type,
  state,
  channel
}: {
  id?: string | undefined
  type: string
  state: object
  channel?: string | undefined
}) => (
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
    {channel && (
      <Text size="xs" c="gray.4">
        listens to a channel
      </Text>
    )}
  </div>
)

/** The screen of a phone or a browser. */
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

/** Phones side by side, wrapping where the page ends. */
export const PhoneRow = ({ children }: { children: ReactNode }) => <div className={classes.row}>{children}</div>
