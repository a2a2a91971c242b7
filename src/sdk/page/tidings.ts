// The browser client of Tidings, served as /sdk/tidings.js. It depends on nothing; docs/guides/web-push.md explains it.

import type { DeviceFacts, Preferences, PropertyValue, TidingsOptions, WebPushOptions } from './types.ts'

export type * from './types.ts'

/** A refusal of the service; docs/reference/errors.md lists the codes. */
export class TidingsError extends Error {
  override readonly name = 'TidingsError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface QueuedEvent {
  id: string
  name: string
  at: string
  properties: Record<string, unknown>
}

export type Tidings = ReturnType<typeof createTidings>

const version = '1.0.0'
/** The most events that wait for a connection; then the oldest are dropped. */
const mostQueued = 1_000
const batchSize = 100
const attempts = 3
const responseMs = 30_000
const subscribeMs = 30_000
const longestPauseMs = 60_000
const mostAfterPage = 8_000

export function createTidings({ baseUrl, projectId, publicKey, userToken }: TidingsOptions) {
  const base = new URL(baseUrl, location.href).href.replace(/\/+$/, '')
  const storage = openStorage(`tidings.${projectId}.`)
  const deviceId = storage.get('device_id') ?? storage.set('device_id', newId())
  const one = `/devices/${encodeURIComponent(deviceId)}`
  let registered: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let pauseMs = 1_000
  addEventListener('online', () => void flush())
  // A reopened page shows simulated pushes again.
  if (storage.get('simulated') !== null && 'serviceWorker' in navigator)
    void navigator.serviceWorker.getRegistration().then((found) => found && followSimulated(found))

  async function once(method: string, path: string, body?: unknown): Promise<Response> {
    const text = body === undefined ? null : JSON.stringify(body)
    // Asked for at every attempt, because a token may have expired meanwhile.
    const token = path.startsWith(one) ? await userToken?.() : null
    return fetch(`${base}/api/v1${path}`, {
      method,
      headers: {
        'X-Service-Project-ID': projectId,
        'X-Service-API-Key': publicKey,
        ...(token && { 'X-Service-User-Token': token }),
        ...(text !== null && { 'Content-Type': 'application/json' })
      },
      body: text,
      // Lets the request outlive the page. Browsers refuse that for large bodies.
      keepalive: (text?.length ?? 0) <= mostAfterPage,
      credentials: 'omit',
      signal: AbortSignal.timeout(responseMs)
    })
  }

  /** Retries a few times after a lost connection and when the service is busy. */
  async function call<Answer = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await once(method, path, body).catch((error: unknown) => {
        if (attempt === attempts) throw error
        return undefined
      })
      if (response?.ok) return response.json()
      if (response && ((response.status !== 429 && response.status < 500) || attempt === attempts))
        throw await asError(response)
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt))
    }
  }

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

  /** Loaded only in simulated projects, so that real pages do not load it. */
  const simulatedPart = () => import(`${base}/sdk/tidings-simulated.js`)
  const followSimulated = async (registration: ServiceWorkerRegistration) =>
    (await simulatedPart()).follow({ call, deviceId, storage }, registration)

  /** In a simulated project, the service itself is the push service. */
  async function subscribeSimulated(registration: ServiceWorkerRegistration): Promise<void> {
    const known = storage.read<object>('simulated')
    const subscription = known ?? (await (await simulatedPart()).subscribe({ call, deviceId, storage }))
    await register({ is_push_permission_granted: true, push_token: subscription, push_token_type: 'WEBPUSH' })
    storage.write('simulated', subscription)
    if (!known) void followSimulated(registration)
  }

  const readQueue = (): QueuedEvent[] => storage.read('events') ?? []

  /** Sends queued events in order. Refused events are dropped; after other failures they stay queued. */
  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    try {
      await exclusively(`tidings.${projectId}.events`, sendQueue)
      pauseMs = 1_000
    } catch {
      timer ??= setTimeout(() => void flush(), pauseMs)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }

  async function sendQueue(): Promise<void> {
    for (let batch = readQueue().slice(0, batchSize); batch.length > 0; batch = readQueue().slice(0, batchSize)) {
      await (registered ?? register())
      await sendEvents(batch).catch(async (error: unknown) => {
        if (!(error instanceof TidingsError)) throw error
        if (error.code === 'device_not_found') registered = undefined
        // One bad event fails the whole batch: then each is sent alone, and the bad one is dropped.
        if (error.status !== 400 && error.status !== 413) throw error
        for (const event of batch) await sendEvents([event]).catch(dropRefused)
      })
      const sent = new Set(batch.map(({ id }) => id))
      storage.write(
        'events',
        readQueue().filter(({ id }) => !sent.has(id))
      )
    }
  }

  async function sendEvents(batch: QueuedEvent[]): Promise<void> {
    // Ids let the service recognise events of a repeated request.
    const events = batch.map(({ id, name, at, properties }) => ({
      id,
      device_id: deviceId,
      name,
      at,
      event_property: { custom_properties: properties }
    }))
    await call('POST', '/events', { events })
  }

  return {
    deviceId,
    flush,

    /** Registers this browser. Without it, the first other call registers it with the detected facts. */
    setDevice: (facts: DeviceFacts = {}): Promise<void> => register(facts),

    /** Asks for permission and subscribes. Call it from a click. Returns false if the person declines. */
    async registerWebPush({ serviceWorker, vapidPublicKey, timeoutMs }: WebPushOptions): Promise<boolean> {
      const granted = (await Notification.requestPermission()) === 'granted'
      if (!granted) {
        await register({ is_push_permission_granted: false })
        return false
      }
      const { public_key, simulated } = await call('GET', '/web-push/public-key')
      const key = vapidPublicKey ?? String(public_key)
      const inTime = timeLimit(timeoutMs ?? subscribeMs)
      const found =
        typeof serviceWorker === 'string'
          ? await inTime(navigator.serviceWorker.register(serviceWorker), 'The service worker was not installed')
          : serviceWorker
      const active = await inTime(activeOne(found), 'The service worker did not start')
      await keepForWorker({ base, projectId, publicKey, deviceId })
      if (simulated && vapidPublicKey === undefined) {
        await subscribeSimulated(active)
        return true
      }
      storage.remove('simulated')
      const subscription = await inTime(
        subscribe(active.pushManager, key),
        'The push service of this browser did not respond'
      )
      storage.set('vapid_key', key)
      await register(tokenOf(subscription))
      return true
    },

    /** Logs a user in on this device. Earlier events of the device become events of this user. */
    linkUser: (projectUserId: string): Promise<void> =>
      onDevice('POST', '/user/project-user-id', { project_user_id: projectUserId }),

    unlinkUser: (): Promise<void> => onDevice('DELETE', '/user/project-user-id'),

    /** What the user of this device wants to receive. Each call returns all of it. */
    preferences: {
      get: () => onDevice<Preferences>('GET', '/preferences'),
      /** Changes single topics; null restores the default of one. */
      set: (topics: Record<string, boolean | null>) => onDevice<Preferences>('PATCH', '/preferences', { topics }),
      /** From now on the user gets transactional messages only. */
      optOut: () => onDevice<Preferences>('PATCH', '/preferences', { opted_out: true }),
      optIn: () => onDevice<Preferences>('PATCH', '/preferences', { opted_out: false })
    },

    setProperties(properties: Record<string, PropertyValue>): Promise<void> {
      const list = Object.entries(properties).map(([name, value]) => ({ name, value }))
      return onDevice('POST', '/user/properties', { properties: list })
    },

    /** Records an event of the user. It stays in the browser until the service has stored it, also over a restart. */
    track(name: string, properties: Record<string, unknown> = {}): void {
      const event = { id: newId(), name, at: new Date().toISOString(), properties }
      storage.write('events', [...readQueue(), event].slice(-mostQueued))
      void flush()
    }
  }
}

function dropRefused(error: unknown): void {
  if (error instanceof TidingsError && (error.status === 400 || error.status === 413)) return
  throw error
}

async function asError(response: Response): Promise<TidingsError> {
  const text = await response.text()
  try {
    const { error, code } = JSON.parse(text) as { error?: string; code?: string }
    return new TidingsError(response.status, code ?? '', error ?? text)
  } catch {
    return new TidingsError(response.status, response.headers.get('x-service-error-code') ?? '', text)
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

const tokenOf = (subscription: PushSubscription) => ({
  is_push_permission_granted: true,
  push_token: subscription.toJSON(),
  push_token_type: 'WEBPUSH'
})

/** Sent with every registration, since the browser may have renewed it. Subscriptions of other programs are ignored. */
async function ownSubscription(key: string | null): Promise<object> {
  if (key === null || !('serviceWorker' in navigator)) return {}
  const registration = await navigator.serviceWorker.getRegistration().catch(() => undefined)
  const subscription = await registration?.pushManager?.getSubscription().catch(() => null)
  return subscription && isMadeWith(subscription, bytesOf(key)) ? tokenOf(subscription) : {}
}

/** Replaces a subscription of another key, which could not be sent to. */
async function subscribe(manager: PushManager, key: string): Promise<PushSubscription> {
  const bytes = bytesOf(key)
  const known = await manager.getSubscription()
  if (known && isMadeWith(known, bytes)) return known
  await known?.unsubscribe()
  return manager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes })
}

const bytesOf = (key: string) =>
  Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))

function isMadeWith({ options }: PushSubscription, key: Uint8Array): boolean {
  const known = options.applicationServerKey
  return known !== null && String(new Uint8Array(known)) === String(key)
}

/** A browser that cannot reach its push service would wait forever. */
function timeLimit(ms: number) {
  const until = Date.now() + ms
  return <Result>(promise: Promise<Result>, what: string): Promise<Result> => {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const error = () => new TidingsError(0, 'timeout', `${what} within ${Math.round(ms / 1000)} s. Try again later.`)
    const timer = setTimeout(() => reject(error()), until - Date.now())
    return Promise.race([promise, late]).finally(() => clearTimeout(timer))
  }
}

/** A new worker receives pushes only once it is active. */
async function activeOne(registration: ServiceWorkerRegistration): Promise<ServiceWorkerRegistration> {
  const coming = registration.installing ?? registration.waiting
  if (!registration.active && coming)
    await new Promise<void>((resolve, reject) => {
      coming.addEventListener('statechange', () => {
        if (coming.state === 'activated') resolve()
        if (coming.state === 'redundant') reject(new Error('The service worker could not be installed.'))
      })
    })
  return registration
}

/** Workers have no localStorage; page and worker share the cache. */
async function keepForWorker(settings: object): Promise<void> {
  const cache = await caches.open('tidings')
  await cache.put('/tidings/settings', Response.json(settings))
}

/** Tabs share the storage, so only one of them sends at a time. */
async function exclusively(name: string, work: () => Promise<void>): Promise<void> {
  if (navigator.locks) await navigator.locks.request(name, work)
  else await work()
}

/** crypto.randomUUID exists only on secure pages. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Without storage, or with a full one, values live as long as the page. */
function openStorage(prefix: string) {
  const memory = new Map<string, string>()
  const get = (name: string): string | null => {
    try {
      return memory.get(name) ?? localStorage.getItem(prefix + name)
    } catch {
      return null
    }
  }
  const set = (name: string, text: string): string => {
    memory.delete(name)
    try {
      localStorage.setItem(prefix + name, text)
    } catch {
      memory.set(name, text)
    }
    return text
  }
  return {
    get,
    set,
    read<Value>(name: string): Value | undefined {
      try {
        return JSON.parse(get(name) ?? '') as Value
      } catch {
        return undefined
      }
    },
    write: (name: string, value: unknown) => set(name, JSON.stringify(value)),
    remove(name: string): void {
      memory.delete(name)
      try {
        localStorage.removeItem(prefix + name)
      } catch {
        // Storage is forbidden.
      }
    }
  }
}
