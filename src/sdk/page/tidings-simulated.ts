// The part of the browser client for projects of mode simulator, served as /sdk/tidings-simulated.js. The page asks the
// service for pushes, since a simulated push service cannot wake a browser, and its service worker shows them.

interface Simulated {
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  deviceId: string
  /** Survives a reload, so that no push is missed or shown twice. */
  storage: { get(name: string): string | null; set(name: string, text: string): string }
}

const lookMs = 1_500
const longestPauseMs = 30_000

const pathOf = (deviceId: string, after: string) =>
  `/web-push/simulated-pushes?device_id=${encodeURIComponent(deviceId)}${after && `&after=${after}`}`

/** Reads the end of the inbox first, so that a push right after the subscription is shown. */
export async function subscribe({ call, deviceId, storage }: Simulated): Promise<object> {
  storage.set('simulated_after', String((await call('GET', pathOf(deviceId, ''))).after))
  return call('POST', '/web-push/simulated-subscriptions')
}

/** Shows pushes while the page is open and the project is simulated. */
export async function follow(
  { call, deviceId, storage }: Simulated,
  registration: ServiceWorkerRegistration
): Promise<void> {
  let pauseMs = lookMs
  for (;;) {
    try {
      const path = pathOf(deviceId, storage.get('simulated_after') ?? '')
      const found = (await call('GET', path)) as { items: { payload: unknown }[]; after: string }
      storage.set('simulated_after', found.after)
      for (const { payload } of found.items) registration.active?.postMessage({ kind: 'tidings-push', payload })
      pauseMs = lookMs
    } catch (error) {
      if ((error as { code?: string }).code === 'project_is_live') return
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
