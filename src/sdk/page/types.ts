// The types of the browser client: they leave no trace in the script that pages load.

export interface TidingsOptions {
  /** The address of the service, such as https://tidings.example.com */
  baseUrl: string
  projectId: string
  /** A public key, svc_pk_…: visitors can read it in your page, and it allows only what an app needs. */
  publicKey: string
  /** Returns a token of the logged-in user, made by your backend; for projects that verify the identity of users. */
  userToken?: () => string | null | undefined | Promise<string | null | undefined>
  /** The limit for each call, repeats included. Default: 30 s. */
  timeoutMs?: number
}

/** A push that this browser received. */
export interface InboxItem {
  /** The id of the message, or one of our own if another program sent the push. */
  id: string
  title: string
  body: string
  image_url?: string
  landing_url?: string
  data: Record<string, unknown>
  /** RFC 3339. */
  received_at: string
  /** Marked by the page, or by a tap on the notification. */
  read: boolean
}

export interface InboxState {
  /** Newest first. */
  items: InboxItem[]
  unread: number
}

/** What the user of this device wants to receive. */
export interface Preferences {
  /** The user gets transactional messages only. */
  opted_out: boolean
  /** By topic: whether the user gets its messages. */
  topics: Record<string, boolean>
}

/** Evidence of a choice, which the service keeps with it. */
export interface Consent {
  /** Where the person chose: `settings`, `checkout`. */
  source: string
  /** What the person agreed to: the version of a text, or the text. */
  text?: string
}

export type PropertyValue = string | number | boolean | null

export interface WebPushOptions {
  /** Address of your service worker, which imports /sdk/tidings-sw.js, or its registration. */
  serviceWorker: string | ServiceWorkerRegistration
  /** Default: read from the service. A given key uses the browser's own push service, also in a simulated project. */
  vapidPublicKey?: string
  /** The limit for the browser and its push service, without the time of the permission prompt. Default: 30 s. */
  timeoutMs?: number
}

/** Facts about the device beside those that the client detects. */
export interface DeviceFacts {
  app_name?: string
  app_version?: string
  model?: string
  os_name?: string
  os_version?: string
  locale_language?: string
  locale_region?: string
  timezone?: string
  is_push_permission_granted?: boolean
}
