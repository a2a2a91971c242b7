/** What a registration says about a subscription of the browser's push service. */
export const tokenOf = (subscription: PushSubscription) => ({
  is_push_permission_granted: true,
  push_token: subscription.toJSON(),
  push_token_type: 'WEBPUSH'
})

/** Sent with every registration, since the browser may have renewed it. Subscriptions of other programs are ignored. */
export async function ownSubscription(key: string | null): Promise<object> {
  if (key === null || !('serviceWorker' in navigator)) return {}
  const registration = await navigator.serviceWorker.getRegistration().catch(() => undefined)
  const subscription = await registration?.pushManager?.getSubscription().catch(() => null)
  return subscription && isMadeWith(subscription, bytesOf(key)) ? tokenOf(subscription) : {}
}

/** Replaces a subscription of another key, which could not be sent to. */
export async function subscribe(manager: PushManager, key: string): Promise<PushSubscription> {
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

/** A new worker receives pushes only once it is active. */
export async function activeOne(registration: ServiceWorkerRegistration): Promise<ServiceWorkerRegistration> {
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
