import { timeLimit } from './errors.ts'
import type { Call } from './requests.ts'
import { type PageStorage, shared } from './storage.ts'
import { activeOne, subscribe, tokenOf } from './subscription.ts'
import type { WebPushOptions } from './types.ts'

interface WebPushNeeds {
  call: Call
  storage: PageStorage
  register(facts: object): Promise<void>
  /** What the service worker needs for its own calls. */
  settings: { base: string; projectId: string; publicKey: string; deviceId: string }
}

const subscribeMs = 30_000

export function createWebPush({ call, storage, register, settings }: WebPushNeeds) {
  const { base, deviceId } = settings
  /** Loaded only in simulated projects, so that real pages do not load it; from the service, so that no bundle holds it. */
  const simulatedPart = () => import(/* webpackIgnore: true */ /* @vite-ignore */ `${base}/sdk/tidings-simulated.js`)
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

  return {
    /** A reopened page shows simulated pushes again. */
    resume(): void {
      if (storage.get('simulated') !== null && 'serviceWorker' in navigator)
        void navigator.serviceWorker.getRegistration().then((found) => found && followSimulated(found))
    },

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
      await shared.write('settings', settings)
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
    }
  }
}
