import { isObject } from '../../platform/fields.ts'

/** The parts of a push that a person sees. */
export interface Push {
  message_id: string | null
  title: string | null
  body: string | null
  image_url: string | null
  landing_url: string | null
  /** The titles of its buttons; absent: it has none. */
  actions?: string[]
  buttons?: Button[]
  /** Nothing is shown: the app is woken. */
  silent?: true
}

export interface Button {
  /** The app reports it when the button is pressed. */
  id: string
  title: string
  landing_url: string | null
}

export const nothing: Push = { message_id: null, title: null, body: null, image_url: null, landing_url: null }

/**
 * The first text at one of these paths. Apps choose their payloads freely, so each field is looked up in several
 * places; docs/guides/simulator.md lists them.
 */
function text(payload: unknown, ...paths: string[]): string | null {
  for (const path of paths) {
    let value = payload
    for (const name of path.split('/')) value = isObject(value) ? value[name] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/** The buttons, in a list or as its JSON. */
function actionsIn(payload: unknown, ...paths: string[]): Pick<Push, 'actions' | 'buttons'> {
  for (const path of paths) {
    let value = payload
    for (const name of path.split('/')) value = isObject(value) ? value[name] : undefined
    const list: unknown = typeof value === 'string' ? parsed(value) : value
    if (!Array.isArray(list) || list.length === 0) continue
    const buttons = list.flatMap((one: unknown): Button[] => {
      const id = text(one, 'id', 'action')
      const title = text(one, 'title') ?? id
      return title === null ? [] : [{ id: id ?? title, title, landing_url: text(one, 'landing_url') }]
    })
    return { actions: buttons.map(({ title }) => title), buttons }
  }
  return {}
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const isSilent = (payload: unknown): boolean =>
  isObject(payload) && isObject(payload.aps) && payload.aps['content-available'] === 1 && !payload.aps.alert

export const readApns = (payload: unknown): Push => ({
  message_id: text(payload, 'message_id', 'data/message_id'),
  title: text(payload, 'aps/alert/title'),
  body: text(payload, 'aps/alert/body', 'aps/alert'),
  image_url: text(payload, 'image_url', 'data/image_url', 'fcm_options/image'),
  landing_url: text(payload, 'landing_url', 'data/landing_url'),
  ...actionsIn(payload, 'actions'),
  ...(isSilent(payload) && { silent: true })
})

/** The channel that the activity which a payload starts subscribes to. */
export const subscribedChannel = (payload: unknown): string | undefined =>
  text(payload, 'aps/input-push-channel', 'message/apns/payload/aps/input-push-channel') ?? undefined

export const readFcm = (payload: unknown): Push => {
  const message = isObject(payload) ? payload.message : undefined
  const apns = readApns(isObject(message) && isObject(message.apns) ? message.apns.payload : undefined)
  return {
    message_id: text(message, 'data/message_id') ?? apns.message_id,
    title: text(message, 'notification/title', 'android/notification/title', 'data/title') ?? apns.title,
    body: text(message, 'notification/body', 'android/notification/body', 'data/body') ?? apns.body,
    image_url:
      text(message, 'notification/image', 'android/notification/image', 'apns/fcm_options/image', 'data/image_url') ??
      apns.image_url,
    landing_url: text(message, 'data/landing_url', 'webpush/fcm_options/link') ?? apns.landing_url,
    ...actionsIn(message, 'data/actions', 'webpush/notification/actions'),
    // Without a notification the system shows nothing.
    ...(apns.silent && isObject(message) && !message.notification && { silent: true })
  }
}

export const readWebPush = (payload: unknown): Push =>
  typeof payload === 'string'
    ? { ...nothing, body: payload }
    : {
        message_id: text(payload, 'message_id', 'data/message_id', 'notification/data/message_id'),
        title: text(payload, 'title', 'notification/title'),
        body: text(payload, 'body', 'notification/body'),
        image_url: text(payload, 'image_url', 'image', 'notification/image', 'data/image_url'),
        landing_url: text(payload, 'landing_url', 'data/landing_url', 'notification/navigate', 'url'),
        ...actionsIn(payload, 'actions', 'notification/actions')
      }
