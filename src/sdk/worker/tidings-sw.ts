// The part of the browser client that runs in a service worker, served as /sdk/tidings-sw.js. Your worker contains:
// importScripts('https://tidings.example.com/sdk/tidings-sw.js')
;(() => {
  const worker = self as unknown as ServiceWorkerGlobalScope

  interface Settings {
    base: string
    projectId: string
    publicKey: string
    deviceId: string
  }

  /** A payload of the service (docs/reference/payloads.md). Other senders may send other JSON, or text. */
  interface Payload {
    message_id?: string
    title?: string
    body?: string
    image_url?: string
    landing_url?: string
    tag?: string
    badge?: number
    actions?: Action[]
    interruption_level?: string
    data?: Record<string, unknown>
  }

  /** A button. Its address is kept beside the notification until it is tapped. */
  interface Action {
    id: string
    title: string
    landing_url?: string
  }

  interface Recorded {
    /** Lets the service recognise a repeated event. */
    id: string
    device_id: string
    name: string
    at: string
    source_type: 'SERVICE'
    event_property: { message_id: string; custom_properties?: { action: string } }
  }

  const mostWaiting = 100
  const answerMs = 20_000
  const cache = () => caches.open('tidings')

  async function read<Value>(name: string): Promise<Value | undefined> {
    const found = await (await cache()).match(`/tidings/${name}`)
    return found && (found.json() as Promise<Value>)
  }

  const write = async (name: string, value: unknown) =>
    (await cache()).put(`/tidings/${name}`, new Response(JSON.stringify(value)))

  const post = ({ base, projectId, publicKey }: Settings, path: string, body: unknown) =>
    fetch(`${base}/api/v1${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Project-ID': projectId,
        'X-Service-API-Key': publicKey
      },
      body: JSON.stringify(body),
      credentials: 'omit',
      signal: AbortSignal.timeout(answerMs)
    })

  let recording: Promise<void> = Promise.resolve()

  /** Runs one at a time: each also sends what earlier ones could not send. */
  function record(name: string, messageId: string | undefined, action = ''): Promise<void> {
    recording = recording.then(() => send(name, messageId, action)).catch(() => {})
    return recording
  }

  async function send(name: string, messageId: string | undefined, action: string): Promise<void> {
    const settings = await read<Settings>('settings')
    if (!settings || !messageId) return
    const event: Recorded = {
      id: crypto.randomUUID(),
      device_id: settings.deviceId,
      name,
      at: new Date().toISOString(),
      source_type: 'SERVICE',
      event_property: { message_id: messageId, ...(action && { custom_properties: { action } }) }
    }
    const waiting = [...((await read<Recorded[]>('waiting')) ?? []), event].slice(-mostWaiting)
    // Stored first: the browser may end this worker at any time.
    await write('waiting', waiting)
    const response = await post(settings, '/events', { events: waiting })
    // A refusal is final, unless a key or a device may become valid again.
    if (response.ok || response.status === 400) await write('waiting', [])
  }

  function payloadOf(data: PushMessageData | null): Payload {
    try {
      const value: unknown = data?.json()
      return typeof value === 'object' && value !== null ? value : { body: String(value ?? '') }
    } catch {
      return { body: data?.text() ?? '' }
    }
  }

  /** Options that the types of the library lack. */
  type Options = NotificationOptions & { image?: string; actions?: { action: string; title: string }[] }

  function show(payload: Payload): Promise<unknown> {
    const { message_id, title, body, image_url, landing_url, tag, data, actions, interruption_level: level } = payload
    // A site that shows no notification for a push loses its permission, so there is always a title.
    const options: Options = {
      data: { ...data, message_id, landing_url, ...(actions && { actions }) },
      ...(actions && { actions: actions.map(({ id, title: label }) => ({ action: id, title: label })) }),
      ...(level === 'passive' && { silent: true }),
      ...((level === 'time-sensitive' || level === 'critical') && { requireInteraction: true }),
      ...(body && { body }),
      ...(tag && { tag }),
      ...(image_url && { image: image_url })
    }
    const shown = worker.registration.showNotification(title || worker.location.host, options)
    return Promise.all([
      shown,
      keep(payload),
      setBadge(payload.badge),
      record('PUSH_NOTIFICATION_RECEIVED', message_id)
    ])
  }

  /** A push in the inbox of the page; `InboxItem` of the page part. */
  interface Item {
    id: string
    read: boolean
  }

  /** Changes the inbox, if a page has opened one, and tells all pages. A failure must not keep a push from the screen. */
  async function changeInbox(apply: (items: Item[]) => Item[]): Promise<void> {
    const change = async () => {
      const kept = await read<{ limit: number; items: Item[] }>('inbox')
      if (kept) await write('inbox', { ...kept, items: apply(kept.items).slice(0, kept.limit) })
    }
    await (navigator.locks ? navigator.locks.request('tidings.inbox', change) : change()).catch(() => {})
    const channel = new BroadcastChannel('tidings-inbox')
    channel.postMessage('changed')
    channel.close()
  }

  /** Keeps a push once, although the push service may deliver it twice. */
  function keep({ message_id, title = '', body = '', image_url, landing_url, data = {} }: Payload): Promise<void> {
    const id = message_id ?? crypto.randomUUID()
    const links = { ...(image_url && { image_url }), ...(landing_url && { landing_url }) }
    const item = { id, title, body, ...links, data, received_at: new Date().toISOString(), read: false }
    return changeInbox((items) => (items.some((known) => known.id === id) ? items : [item, ...items]))
  }

  const markRead = (id: string | undefined) =>
    changeInbox((items) => items.map((item) => (item.id === id ? { ...item, read: true } : item)))

  /** The number on the icon of an installed page, where the browser has one; zero removes it. */
  const setBadge = async (badge: number | undefined): Promise<void> => {
    if (badge !== undefined) await worker.navigator.setAppBadge?.(badge).catch(() => {})
  }

  worker.addEventListener('push', (event) => event.waitUntil(show(payloadOf(event.data))))

  // A push from a page of this site, in a project of mode simulator: docs/guides/web-push.md.
  worker.addEventListener('message', (event) => {
    const { kind, payload } = (event.data ?? {}) as { kind?: string; payload?: Payload }
    if (kind === 'tidings-push') event.waitUntil(show(payload ?? {}))
  })

  worker.addEventListener('notificationclick', (event) => {
    event.notification.close()
    const { message_id, landing_url, actions = [] } = (event.notification.data ?? {}) as Payload
    const button = actions.find(({ id }) => id === event.action)
    const opened = open(button?.landing_url ?? landing_url)
    const recorded = record('PUSH_NOTIFICATION_TAPPED', message_id, event.action)
    event.waitUntil(Promise.all([opened, markRead(message_id), recorded]))
  })

  /** Focuses a tab that already shows the address. A link that browsers cannot open, such as one of an app, opens the site. */
  async function open(landingUrl: string | undefined): Promise<void> {
    const scope = worker.registration.scope
    const wanted = URL.canParse(landingUrl ?? '', scope) ? new URL(landingUrl ?? '', scope) : new URL(scope)
    const url = /^https?:$/.test(wanted.protocol) ? wanted.href : scope
    const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
    const there = tabs.find((tab) => tab.url === url)
    if (there) await there.focus()
    else await worker.clients.openWindow(url)
  }

  /** The browser renewed the subscription, and the old one no longer works. */
  worker.addEventListener('pushsubscriptionchange', (event) => {
    const { oldSubscription, newSubscription } = event as PushSubscriptionChangeEvent
    const renew = async () => {
      const settings = await read<Settings>('settings')
      const options = oldSubscription?.options ?? { userVisibleOnly: true }
      const subscription = newSubscription ?? (await worker.registration.pushManager.subscribe(options))
      const device = {
        id: settings?.deviceId,
        platform: 'WEB',
        push_token: subscription.toJSON(),
        push_token_type: 'WEBPUSH'
      }
      if (settings) await post(settings, '/devices', { devices: [device] })
    }
    ;(event as ExtendableEvent).waitUntil(renew())
  })
})()
