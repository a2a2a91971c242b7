import { Text } from '@mantine/core'
import { activityOf, arrived, type InboxItem } from '../inbox.ts'
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
    {image_url && <img className={classes.picture} src={image_url} alt="" loading="lazy" />}
  </>
)

/** The Live Activities a device shows now: started, changed, and gone when they ended. Oldest push first. */
export function activitiesOf(items: InboxItem[]): { key: string; type: string; state: Record<string, unknown> }[] {
  const shown = new Map<string, { key: string; type: string; state: Record<string, unknown> }>()
  for (const item of items.filter(arrived)) {
    const push = activityOf(item)
    if (!push) continue
    // A change names no type: it is for the activity that this phone started last.
    const type = push.type ?? [...shown.keys()].at(-1) ?? 'Live Activity'
    if (push.event === 'end') shown.delete(type)
    else shown.set(type, { key: item.id, type, state: push.state })
  }
  return [...shown.values()]
}

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
  open?: (item: InboxItem) => void
}) {
  const alerts = items.filter((item) => arrived(item) && !activityOf(item)).slice(0, 20)
  return (
    <section className={`${classes.phone} ${looks[platform]}`} aria-label={`Lock screen of ${label}`}>
      <div className={classes.clock}>{clock.format(new Date())}</div>
      <div className={classes.cards} aria-live="polite">
        {activitiesOf([...items].reverse()).map(({ key, type, state }) => (
          <div key={key} className={classes.activity} data-activity={type}>
            <Text size="xs" c="gray.4">
              {type}
            </Text>
            {Object.entries(state).map(([name, value]) => (
              <Text key={name} size="sm">
                {name}: <b>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</b>
              </Text>
            ))}
          </div>
        ))}
        {alerts.map((item) => (
          <button
            key={item.id}
            type="button"
            className={classes.card}
            data-message={item.message_id}
            onClick={() => open?.(item)}
          >
            <NotificationText {...item} />
          </button>
        ))}
      </div>
    </section>
  )
}
