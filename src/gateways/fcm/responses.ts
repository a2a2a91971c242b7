import type { IncomingHttpHeaders } from 'node:http2'
import { isObject } from '../../platform/fields.ts'
import { retryAfterMs } from '../../platform/net/retry-after.ts'
import { credentialWrong, later, refused, tokenDead, type Verdict } from '../gateway.ts'

const retryQuotaMs = 60_000
const retryDeviceMs = 60_000
const retryUnavailableMs = 10_000
const retryInternalMs = 1_000

/** Reads an error of Firebase by its codes, and by its text only if no code decides. */
export function readFcmError(status: number, headers: IncomingHttpHeaders, answer: Record<string, unknown>): Verdict {
  const error = isObject(answer.error) ? answer.error : {}
  const details = Array.isArray(error.details) ? error.details.filter(isObject) : []
  const typed = (name: string) => details.find((detail) => String(detail['@type']).endsWith(name))
  const own = typed('google.firebase.fcm.v1.FcmError')?.errorCode
  const code = String(own ?? error.status ?? status)
  const message = typeof error.message === 'string' ? error.message : ''
  const wait = retryAfterMs(headers)

  switch (code) {
    case 'UNREGISTERED':
      return tokenDead('TOKEN_UNREGISTERED', code)
    case 'SENDER_ID_MISMATCH':
      return tokenDead('TOKEN_MISMATCH', code)
    case 'THIRD_PARTY_AUTH_ERROR':
      // The error concerns Apple's or the browser's key inside Firebase: Android still works with this credential.
      return refused('CREDENTIALS_INVALID', code, 'The APNs or Web Push key inside the Firebase project is refused.')
    case 'UNAUTHENTICATED':
      return { kind: 'renew', gatewayCode: code }
    case 'PERMISSION_DENIED':
      return credentialWrong(code, 'The service account may not send for the Firebase project.')
    case 'INVALID_ARGUMENT':
      return invalidArgument(code, message, violations(typed('google.rpc.BadRequest')?.fieldViolations))
    case 'QUOTA_EXCEEDED':
    case 'RESOURCE_EXHAUSTED':
      return quota(code, violations(typed('google.rpc.QuotaFailure')?.violations), wait)
    case 'INTERNAL':
      return later('GATEWAY_UNAVAILABLE', code, wait ?? retryInternalMs)
    case 'UNAVAILABLE':
      return later('GATEWAY_UNAVAILABLE', code, wait ?? retryUnavailableMs, { pushback: true })
  }
  return byStatus(status, code, wait)
}

const violations = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])

function invalidArgument(code: string, message: string, fields: Record<string, unknown>[]): Verdict {
  const named = fields.map(({ field }) => field)
  if (named.includes('message.token') || message.includes('not a valid FCM registration token'))
    return tokenDead('TOKEN_INVALID', code)
  // The error concerns Apple's token and not the push token, which stays active.
  if (named.includes('message.apns.live_activity_token')) return refused('TOKEN_INVALID', code)
  const told = [message, ...fields.map(({ description }) => String(description ?? ''))]
  if (told.some((text) => /too (big|large|long)/i.test(text))) return refused('PAYLOAD_TOO_LARGE', code)
  return refused(
    'PAYLOAD_INVALID',
    code,
    message ? `Firebase refuses the content: ${message.slice(0, 300)}` : undefined
  )
}

/**
 * Firebase has quotas for a project and for a device: one device that gets too many pushes must not stop the others.
 */
function quota(code: string, failures: Record<string, unknown>[], wait: number | undefined): Verdict {
  const device = failures.some(({ subject, description }) => /device/i.test(`${subject} ${description}`))
  return device
    ? later('DEVICE_RATE_LIMITED', code, wait ?? retryDeviceMs, { scope: 'device' })
    : later('PROJECT_RATE_LIMITED', code, wait ?? retryQuotaMs, { scope: 'gateway', pushback: true })
}

/** The verdict for a response that is not JSON or has an unknown code. */
function byStatus(status: number, code: string, wait: number | undefined): Verdict {
  if (status === 401) return { kind: 'renew', gatewayCode: code }
  if (status === 403) return credentialWrong(code)
  if (status === 413) return refused('PAYLOAD_TOO_LARGE', code)
  if (status === 429)
    return later('PROJECT_RATE_LIMITED', code, wait ?? retryQuotaMs, { scope: 'gateway', pushback: true })
  if (status === 500) return later('GATEWAY_UNAVAILABLE', code, wait ?? retryInternalMs)
  if (status > 500) return later('GATEWAY_UNAVAILABLE', code, wait ?? retryUnavailableMs, { pushback: true })
  return refused(status === 400 ? 'PAYLOAD_INVALID' : 'INTERNAL_ERROR', code)
}
