import type { ReactNode } from 'react'
import { LookProvider, type Platform, type Scheme, type Shown } from './look.ts'
import { ActivityCard, NotificationCard } from './notification.tsx'
import classes from './phone.module.css'

export type { Platform, Scheme, Shown } from './look.ts'
export { ActivityCard, NotificationCard, NotificationText } from './notification.tsx'

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
const looks: Record<Platform, string | undefined> = {
  IOS: classes.ios,
  ANDROID: classes.android,
  WEB: classes.browser
}

interface ScreenProps {
  platform: Platform
  label: string
  /** The scheme of the phone, whatever that of the console is. */
  scheme?: Scheme
  app?: string
  small?: boolean
  children: ReactNode
}

/** The lock screen of an iPhone, the notification shade of an Android phone, or a browser on a desktop. */
export const Screen = ({
  platform,
  label,
  scheme = 'light',
  app = 'Your app',
  small = false,
  children
}: ScreenProps) => (
  <LookProvider value={{ platform, app }}>
    <section
      className={`${classes.phone} ${looks[platform]} ${classes[scheme]} ${small ? classes.low : ''}`}
      aria-label={label}
      data-platform={platform}
      data-scheme={scheme}
    >
      <Top platform={platform} app={app} />
      <div className={classes.cards} aria-live="polite">
        {children}
      </div>
    </section>
  </LookProvider>
)

/** The clock of a phone, or the bar of a browser. */
function Top({ platform, app }: { platform: Platform; app: string }) {
  const now = new Date()
  if (platform === 'WEB')
    return (
      <div className={classes.bar} aria-hidden>
        <i />
        <i />
        <i />
        <span>{app}</span>
      </div>
    )
  if (platform === 'ANDROID')
    return (
      <div className={classes.shade} aria-hidden>
        <span>{clock.format(now)}</span>
        <span>{day.format(now)}</span>
      </div>
    )
  return (
    <div className={classes.clock} aria-hidden>
      <span>{day.format(now)}</span>
      <b>{clock.format(now)}</b>
    </div>
  )
}

/** One notification, or one Live Activity, on the screen of a platform. `children` take its place. */
export const PhonePreview = ({
  notification,
  activity,
  children,
  ...screen
}: Omit<ScreenProps, 'children'> & {
  notification?: Shown | undefined
  activity?: { type: string; state: object } | undefined
  children?: ReactNode
}) => (
  <Screen {...screen}>
    {notification && <NotificationCard {...notification} />}
    {activity && <ActivityCard {...activity} />}
    {children}
  </Screen>
)

/** Phones side by side, wrapping where the page ends. */
export const PhoneRow = ({ children }: { children: ReactNode }) => <div className={classes.row}>{children}</div>
