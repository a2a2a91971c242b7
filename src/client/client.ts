/**
 * The typed client of Tidings, which packages import as `tidings/client`: for Node 20 and newer and for browsers. It has
 * no dependencies, and calls only the public API.
 */
import { campaignsOf, statsOf, triggersOf } from './campaigns.ts'
import { devicesOf, eventsOf } from './devices.ts'
import { liveActivitiesOf, messagesOf } from './messages.ts'
import { type ItemOf, type List, type ListName, listOf } from './pages.ts'
import {
  type CallOptions,
  createTransport,
  type Input,
  type Name,
  type Result,
  type Settings,
  type Transport
} from './request.ts'
import { usersOf } from './users.ts'

export { type ErrorCode, type ErrorKind, TidingsError } from './errors.ts'
export type { Operations } from './operations.ts'
export type { List, Page } from './pages.ts'
export type { CallOptions, Settings } from './request.ts'
export type * from './schemas.ts'
export { verifyWebhook, type WebhookCall, WebhookError, type WebhookEvent } from './webhooks.ts'

export type ClientSettings = Settings & { projectId: string } & (
    | { /** A secret key, svc_sk_…, on your backend only. */ apiKey: string; token?: never }
    | { /** A management token, with the rights of its role. */ token: string; apiKey?: never }
  )

export type Client = ReturnType<typeof createClient>

/** A client of one project: users, devices, events, messages, Live Activities, campaigns and triggers. */
export function createClient({ projectId, apiKey, token, ...settings }: ClientSettings) {
  // A variable of the environment that is not set leaves both out, and the caller may have meant either.
  const secret = token !== undefined ? { token } : { [apiKey === undefined ? 'apiKey or token' : 'apiKey']: apiKey }
  checkSettings({ projectId, ...secret, url: settings.url })
  const transport = createTransport(
    settings,
    token === undefined
      ? { headers: { 'x-service-project-id': projectId, 'x-service-api-key': apiKey } }
      : {
          headers: { authorization: `Bearer ${token}` },
          prefix: `/manage/v1/projects/${encodeURIComponent(projectId)}/api/v1`
        }
  )
  return {
    users: usersOf(transport),
    devices: devicesOf(transport),
    events: eventsOf(transport),
    messages: messagesOf(transport),
    liveActivities: liveActivitiesOf(transport),
    campaigns: campaignsOf(transport),
    triggers: triggersOf(transport),
    /** What came of everything that the project sent. */
    stats: statsOf(transport),
    ...byName(transport)
  }
}

export type PublicClientSettings = Settings & {
  projectId: string
  /** A public key: safe in an app or a page. */
  publicKey: string
  /** Proves who the user is, in projects that verify it; your backend signs it. */
  userToken?: string
}

export type PublicClient = ReturnType<typeof createPublicClient>

/** A client for apps and pages: their device, its user and what the user does. */
export function createPublicClient({ projectId, publicKey, userToken, ...settings }: PublicClientSettings) {
  checkSettings({ projectId, publicKey, url: settings.url })
  if (publicKey.startsWith('svc_sk_'))
    throw new TypeError('publicKey: is a secret key. Everyone can read it in an app.')
  const user = userToken === undefined ? {} : { 'x-service-user-token': userToken }
  const transport = createTransport(settings, {
    headers: { 'x-service-project-id': projectId, 'x-service-api-key': publicKey, ...user }
  })
  const { delete: _, ...devices } = devicesOf(transport)
  return { devices, events: eventsOf(transport) }
}

export type ManagementSettings = Settings & { /** A management token, svc_at_…. */ token: string }

export type Management = ReturnType<typeof createManagement>

/** A client of /manage/v1: projects, keys, campaigns, webhooks, members and everything else that the console can do. */
export function createManagement({ token, ...settings }: ManagementSettings) {
  checkSettings({ token, url: settings.url })
  return byName(createTransport(settings, { headers: { authorization: `Bearer ${token}` } }))
}

type Call = <Operation extends Name>(
  operation: Operation,
  ...rest: Record<never, never> extends Input<Operation>
    ? [input?: Input<Operation>, options?: CallOptions]
    : [input: Input<Operation>, options?: CallOptions]
) => Promise<Result<Operation>>

type ListByName = <Operation extends ListName>(
  operation: Operation,
  ...rest: Record<never, never> extends Input<Operation>
    ? [input?: Input<Operation>, options?: CallOptions]
    : [input: Input<Operation>, options?: CallOptions]
) => List<ItemOf<Operation>>

/** Every operation by its name in /openapi.json. A POST without an idempotency key is repeated only if it had no effect. */
function byName(transport: Transport): { call: Call; list: ListByName } {
  return {
    call: (operation, input = {} as never, options = {}) => transport.call(operation, input as never, options),
    list: (operation, input = {} as never, options = {}) => listOf(transport, operation, input as never, options)
  }
}

/** A mistake in the settings is noticed where it is made, and not with the first call. */
function checkSettings(settings: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(settings))
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name}: must be given, as text.`)
  if (!/^https?:\/\/[^/]/.test(String(settings.url)))
    throw new TypeError('url: must be the address of the service, such as https://tidings.example.com.')
}
