import { Text } from '@mantine/core'
import { directionOf, type Platform, type Shown, useLook } from './look.ts'
import classes from './phone.module.css'

/** Lines that each platform shows before it cuts a text off. */
const lines: Record<Platform, { title: number; body: number; buttons: number }> = {
  IOS: { title: 1, body: 4, buttons: 4 },
  ANDROID: { title: 1, body: 6, buttons: 3 },
  WEB: { title: 1, body: 3, buttons: 2 }
}

const Picture = ({ url, className }: { url: string; className: string | undefined }) =>
  url.startsWith('https:') ? (
    <img className={className} src={url} alt="" loading="lazy" />
  ) : (
    // The content security policy allows images over https only. A phone may load others.
    <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
      Image: {url}
    </Text>
  )

const Clamped = ({ text, lines: most, bold }: { text: string; lines: number; bold?: boolean }) => (
  <div className={bold ? classes.title : classes.body} style={{ WebkitLineClamp: most }} dir="auto">
    {text}
  </div>
)

/** The text and the image of a notification, outside of a screen. */
export const NotificationText = ({ title, body, image_url }: Shown) => (
  <div className={classes.plain}>
    {title && <Clamped text={title} lines={2} bold />}
    {body && <Clamped text={body} lines={4} />}
    {image_url && <Picture url={image_url} className={classes.picture} />}
  </div>
)

/** The tile of the app. It says nothing that the name beside it does not say. */
const AppIcon = ({ app }: { app: string }) => (
  <span className={classes.icon} aria-hidden>
    {[...app][0]?.toUpperCase()}
  </span>
)

/** iOS: the icon, title and body beside it, the picture as a thumbnail. */
function Apple({ title, body, image_url, app }: Shown & { app: string }) {
  const { title: titleLines, body: bodyLines } = lines.IOS
  return (
    <div className={classes.columns}>
      <AppIcon app={app} />
      <div className={classes.texts}>
        {title && <Clamped text={title} lines={titleLines} bold />}
        {body && <Clamped text={body} lines={bodyLines} />}
        {image_url && !image_url.startsWith('https:') && <Picture url={image_url} className={undefined} />}
      </div>
      <div className={classes.aside}>
        <span className={classes.time}>now</span>
        {image_url?.startsWith('https:') && <Picture url={image_url} className={classes.thumbnail} />}
      </div>
    </div>
  )
}

/** Android: a line with the app, then title and body over the whole width, then the picture. */
function Google({ title, body, image_url, app }: Shown & { app: string }) {
  const { title: titleLines, body: bodyLines } = lines.ANDROID
  return (
    <>
      <div className={classes.line}>
        <AppIcon app={app} />
        <span className={classes.app}>{app}</span>
        <span className={classes.time}>• now</span>
      </div>
      {title && <Clamped text={title} lines={titleLines} bold />}
      {body && <Clamped text={body} lines={bodyLines} />}
      {image_url && <Picture url={image_url} className={classes.picture} />}
    </>
  )
}

/** A browser: a picture on top, then the icon with title, body and the site that sent it. */
function Browser({ title, body, image_url, app }: Shown & { app: string }) {
  const { title: titleLines, body: bodyLines } = lines.WEB
  return (
    <>
      {image_url && <Picture url={image_url} className={classes.banner} />}
      <div className={classes.columns}>
        <AppIcon app={app} />
        <div className={classes.texts}>
          {title && <Clamped text={title} lines={titleLines} bold />}
          {body && <Clamped text={body} lines={bodyLines} />}
          <div className={classes.site}>{app} · via your browser</div>
        </div>
      </div>
    </>
  )
}

const looks = { IOS: Apple, ANDROID: Google, WEB: Browser }

/** A notification on a screen, as its platform shows it. With `open` it is a button, with `press` its buttons are. */
export function NotificationCard({
  open,
  press,
  message,
  buttons = [],
  ...shown
}: Shown & {
  open?: (() => void) | undefined
  press?: ((index: number) => void) | undefined
  message?: string | null | undefined
}) {
  const { platform, app } = useLook()
  const Inside = looks[platform]
  const common = { className: classes.card, dir: directionOf(shown.title || shown.body), 'data-message': message }
  const card = open ? (
    <button type="button" {...common} onClick={open}>
      <Inside {...shown} app={app} />
    </button>
  ) : (
    <div {...common}>
      <Inside {...shown} app={app} />
    </div>
  )
  if (buttons.length === 0) return card
  return (
    <div className={classes.withButtons}>
      {card}
      <div className={classes.buttons} dir={common.dir}>
        {buttons.slice(0, lines[platform].buttons).map((text, index) => {
          const Each = press ? 'button' : 'span'
          const pressed = press && { type: 'button' as const, onClick: () => press(index) }
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two buttons may have one text
            <Each key={index} className={classes.button} dir="auto" {...pressed}>
              {text}
            </Each>
          )
        })}
      </div>
    </div>
  )
}

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
    <div className={classes.small}>{type}</div>
    {Object.entries(state).map(([name, value]) => (
      <div key={name} dir="auto">
        {name}: <b>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</b>
      </div>
    ))}
    {id && <div className={classes.small}>activity_id {id}</div>}
    {channel && <div className={classes.small}>listens to a channel</div>}
  </div>
)
