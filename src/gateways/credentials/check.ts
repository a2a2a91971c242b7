import * as http2 from 'node:http2'
import type { ApnsCredential, Credential, FcmCredential, ProviderTokens } from './credential.ts'
import type { CheckResult } from './credentials.ts'

const limitMs = 10_000
const longestAnswer = 64_000
/**
 * Well-formed device tokens that belong to no device. Gateways check the credential first, so the refusal of such a
 * token shows that the credential was accepted.
 */
const nobodysApnsToken = '0'.repeat(64)
const nobodysFcmToken = 'nobody:tidings-checks-its-credential'

/** Asks a gateway whether it accepts a credential. Nothing is delivered. */
export function createCheck(tokens: ProviderTokens) {
  return async (credential: Credential): Promise<CheckResult> => {
    try {
      if (credential.gateway === 'apns') return await checkApns(credential, await tokens.of(credential))
      if (credential.gateway === 'fcm') return await checkFcm(credential, await tokens.of(credential))
      return {
        ok: true,
        message: 'The key pair signs. Push services are asked only once a browser has subscribed with it.'
      }
    } catch (error) {
      return { ok: false, message: (error as Error).message }
    }
  }
}

async function checkApns(credential: ApnsCredential, token: string): Promise<CheckResult> {
  const { status, text } = await ask(credential, `/3/device/${nobodysApnsToken}`, {
    authorization: `bearer ${token}`,
    'apns-topic': credential.topic,
    'apns-push-type': 'alert',
    'apns-priority': '5',
    'apns-expiration': '0',
    body: JSON.stringify({ aps: { alert: 'Check' } })
  })
  const { reason } = objectOf(text)
  // Apple checks the device token last.
  if (status === 200 || status === 410 || reason === 'BadDeviceToken' || reason === 'DeviceTokenNotForTopic')
    return { ok: true, message: `Apple accepts the key ${credential.keyId} for ${credential.topic}.` }
  if (status >= 500 || status === 429)
    return { ok: false, message: `Apple cannot tell at the moment (${reason ?? status}). Try again in a while.` }
  const hint = apnsHints.get(String(reason)) ?? ''
  return { ok: false, message: `Apple refuses: ${String(reason ?? `HTTP ${status}`)}. ${hint}`.trim() }
}

const apnsHints = new Map([
  ['InvalidProviderToken', 'The key, its key_id and the team_id do not belong together, or the key was revoked.'],
  ['BadEnvironmentKeyIdInToken', 'The key is for the other environment.'],
  ['UnrelatedKeyIdInToken', 'The key is not for this topic or environment.'],
  ['TopicDisallowed', 'The topic is not a bundle id of this team.'],
  ['BadTopic', 'The topic is not a bundle id of this team.'],
  ['ExpiredProviderToken', 'Check the clock of this machine.'],
  ['TooManyProviderTokenUpdates', 'Too many tokens were made for this team; wait 20 minutes.']
])

async function checkFcm(credential: FcmCredential, token: string): Promise<CheckResult> {
  const { status, text } = await ask(credential, `/v1/projects/${credential.firebaseProject}/messages:send`, {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    body: JSON.stringify({
      validate_only: true,
      message: { token: nobodysFcmToken, notification: { title: 'Check' } }
    })
  })
  const error = objectOf(objectOf(text).error)
  const said = String(error.status ?? `HTTP ${status}`)
  const details = Array.isArray(error.details) ? error.details.map(objectOf) : []
  const unknownToken = details.some(({ errorCode }) => errorCode === 'UNREGISTERED' || errorCode === 'INVALID_ARGUMENT')
  if (status === 200 || status === 400 || (status === 404 && unknownToken))
    return { ok: true, message: `Google accepts the service account for ${credential.firebaseProject}.` }
  if (status >= 500 || status === 429)
    return { ok: false, message: `Google cannot tell at the moment (${said}). Try again in a while.` }
  const hint =
    status === 403
      ? 'Enable the Firebase Cloud Messaging API in the project, and give the account the role to use it.'
      : ''
  return { ok: false, message: `Google refuses: ${said}. ${hint}`.trim() }
}

/** One request on a connection of its own. */
function ask(
  { origin, ca }: Pick<Credential, 'origin' | 'ca'>,
  path: string,
  { body, ...headers }: Record<string, string>
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const session = http2.connect(origin, ca ? { ca } : {})
  const { host, port } = new URL(origin)
  const way = `The service needs a way to it, on port ${port || 443}.`
  const fail = (why: string) => reject(new Error(`${host} cannot be reached: ${why}. ${way}`))
  const timer = setTimeout(() => fail(`no answer within ${limitMs / 1000} s`), limitMs)
  session.on('error', (error) => fail(error.message || String((error as NodeJS.ErrnoException).code)))
  session.on('goaway', () => fail('the gateway closed the connection'))
  session.on('close', () => fail('the gateway closed the connection'))
  const stream = session.request({ ':method': 'POST', ':path': path, ...headers })
  let status = 0
  let text = ''
  stream.setEncoding('utf8')
  stream.on('response', (got) => {
    status = got[':status'] ?? 0
  })
  stream.on('data', (chunk: string) => {
    if (text.length < longestAnswer) text += chunk
  })
  // The error of a stream that never began gives no details; its cause does.
  stream.on('error', (error) => fail(error.cause instanceof Error ? error.cause.message : error.message))
  stream.on('end', () => (status > 0 ? resolve({ status, text }) : fail('it closed without an answer')))
  stream.end(body)
  return promise.finally(() => {
    clearTimeout(timer)
    session.destroy()
  })
}

function objectOf(value: unknown): Record<string, unknown> {
  const read = typeof value === 'string' ? parsed(value) : value
  return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
