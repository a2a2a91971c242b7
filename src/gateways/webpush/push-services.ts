import { simulatedHost } from '../../simulator/simulator.ts'
import type { WebPushCredential } from '../credentials/credential.ts'

/** The push services of all browsers. Pushes go to no other host. */
const hosts = new Set([
  'fcm.googleapis.com',
  'android.googleapis.com',
  'jmt17.google.com',
  'web.push.apple.com',
  'updates.push.services.mozilla.com'
])
const families = ['.push.apple.com', '.push.services.mozilla.com', '.notify.windows.com']

/** Whether the host is known by its family only, so that a device could have made it up. Those of Windows are many. */
export const isUnlisted = (origin: string) => !hosts.has(new URL(origin).hostname)

const isKnown = (host: string) => hosts.has(host) || families.some((family) => host.endsWith(family))
const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

const simulatedOnly =
  'This project is simulated: it reaches simulated browsers only. Make the project live to reach real ones.'

/**
 * The app that registers a device chooses the endpoint, so it could be any address that this machine can reach. Returns the
 * reason of a refusal, or undefined. A project in simulator mode reaches only its simulator.
 */
export function refuseEndpoint(endpoint: URL, { simulated, origin }: WebPushCredential): string | undefined {
  if (endpoint.protocol !== 'https:') return 'The endpoint of the subscription is not https.'
  if (endpoint.username || endpoint.password) return 'The endpoint of the subscription has a user name.'
  if (simulated) {
    const own =
      endpoint.hostname === simulatedHost || (origin ? endpoint.origin === origin : isLoopback(endpoint.hostname))
    return own ? undefined : simulatedOnly
  }
  const known = endpoint.port === '' && isKnown(endpoint.hostname)
  return known ? undefined : `${endpoint.host} is not a known push service.`
}
