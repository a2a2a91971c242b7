// The browser client of Tidings: the module tidings/browser, and joined to one script /sdk/tidings.js. It depends on
// nothing; docs/guides/web-push.md explains it.

import { TidingsError } from './errors.ts'
import { createEventQueue } from './events.ts'
import { emptyInbox } from './inbox.ts'
import { createCall } from './requests.ts'
import { newId, openStorage } from './storage.ts'
import { ownSubscription } from './subscription.ts'
import type { Consent, DeviceFacts, Preferences, PropertyValue, TidingsOptions, WebPushOptions } from './types.ts'
import { createWebPush } from './web-push.ts'

export { TidingsError } from './errors.ts'
export { createInbox, type Inbox } from './inbox.ts'
export type * from './types.ts'

export type Tidings = ReturnType<typeof createTidings>

const version = '1.0.0'

export function createTidings(options: TidingsOptions) {
  const { baseUrl, projectId, publicKey } = options
  const base = new URL(baseUrl, location.href).href.replace(/\/+$/, '')
  const storage = openStorage(`tidings.${projectId}.`)
  const deviceId = storage.get('device_id') ?? storage.set('device_id', newId())
  const one = `/devices/${encodeURIComponent(deviceId)}`
  const call = createCall(base, options)
  let registered: Promise<void> | undefined

  async function putDevice(facts: object): Promise<void> {
    const known = { ...factsOfBrowser(), ...(await ownSubscription(storage.get('vapid_key'))), ...facts }
    const device = { ...known, id: deviceId, platform: 'WEB', sdk_type: 'web', sdk_version: version }
    await call('POST', '/devices', { devices: [device] })
  }

  /** Registers the device once while the page is open; after a failure, the next call registers it again. */
  function register(facts: object = {}): Promise<void> {
    const attempt = putDevice(facts)
    registered = attempt
    attempt.catch(() => {
      if (registered === attempt) registered = undefined
    })
    return attempt
  }

  /** A call on the device. If the service does not know it, for example after its user was deleted, it is registered again. */
  async function onDevice<Answer = void>(method: string, path: string, body?: unknown): Promise<Answer> {
    await (registered ?? register())
    return call<Answer>(method, one + path, body).catch(async (error: unknown) => {
      if (!(error instanceof TidingsError) || error.code !== 'device_not_found') throw error
      await register()
      return call<Answer>(method, one + path, body)
    })
  }

  const choose = (change: object) => onDevice<Preferences>('PATCH', '/preferences', change)

  const { flush, track } = createEventQueue({
    call,
    storage,
    deviceId,
    lock: `tidings.${projectId}.events`,
    registration: {
      ready: () => registered ?? register(),
      forget: () => {
        registered = undefined
      }
    }
  })
  addEventListener('online', () => void flush())
  const webPush = createWebPush({ call, storage, register, settings: { base, projectId, publicKey, deviceId } })
  webPush.resume()

  return {
    deviceId,
    flush,

    /** Registers this browser. Without it, the first other call registers it with the detected facts. */
    setDevice: (facts: DeviceFacts = {}): Promise<void> => register(facts),

    /** Asks for permission and subscribes. Call it from a click. Returns false if the person declines. */
    registerWebPush: (wish: WebPushOptions): Promise<boolean> => webPush.registerWebPush(wish),

    /** Logs a user in on this device. Earlier events of the device become events of this user. */
    async linkUser(projectUserId: string): Promise<void> {
      const before = storage.get('user')
      await onDevice('POST', '/user/project-user-id', { project_user_id: projectUserId })
      storage.set('user', projectUserId)
      if (before !== null && before !== projectUserId) await emptyInbox()
    },

    async unlinkUser(): Promise<void> {
      await onDevice('DELETE', '/user/project-user-id')
      storage.remove('user')
      await emptyInbox()
    },

    /** What the user of this device wants to receive. Each call returns all of it. */
    preferences: {
      get: () => onDevice<Preferences>('GET', '/preferences'),
      /** Changes single topics; null restores the default of one. */
      set: (topics: Record<string, boolean | null>, consent?: Consent) => choose({ topics, consent }),
      /** From now on the user gets transactional messages only. */
      optOut: (consent?: Consent) => choose({ opted_out: true, consent }),
      optIn: (consent?: Consent) => choose({ opted_out: false, consent })
    },

    setProperties(properties: Record<string, PropertyValue>): Promise<void> {
      const list = Object.entries(properties).map(([name, value]) => ({ name, value }))
      return onDevice('POST', '/user/properties', { properties: list })
    },

    /** Records an event of the user. It stays in the browser until the service has stored it, also over a restart. */
    track: (name: string, properties: Record<string, unknown> = {}): void => track(name, properties)
  }
}

function factsOfBrowser(): DeviceFacts {
  const { language, region } = new Intl.Locale(navigator.language || 'en')
  const brand = /(Firefox|Edg|OPR|Chrome|Version)\/(\d+)/.exec(navigator.userAgent)
  return {
    app_name: location.host,
    os_name: 'Web',
    locale_language: language ?? '',
    locale_region: region ?? '',
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(brand && { model: brand[1] === 'Version' ? 'Safari' : brand[1]!, os_version: brand[2]! })
  }
}
