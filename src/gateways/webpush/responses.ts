import type { IncomingHttpHeaders } from 'node:http2'
import { retryAfterMs } from '../../platform/net/retry-after.ts'
import { credentialWrong, later, refused, tokenDead, type Verdict } from '../gateway.ts'

const retryOverloadMs = 10_000
const retryLimitMs = 30_000

/** Apple gives a reason for it; Google only a sentence. */
const isOtherKey = (reason: string, body: string) =>
  reason === 'VapidPkHashMismatch' || /do(es)? not correspond to the credentials/i.test(body)

/** Push services agree on the status code and on little else. */
export function readPushService(
  status: number,
  headers: IncomingHttpHeaders,
  answer: Record<string, unknown>,
  body: string
): Verdict {
  const reason = typeof answer.reason === 'string' ? answer.reason : ''
  const code = reason || String(status)
  const wait = retryAfterMs(headers)
  switch (status) {
    case 200:
    case 201:
    case 202:
      return { kind: 'accepted', gatewayMessageId: String(headers.location ?? '') }
    case 400:
      return /auth|vapid|jwt/i.test(reason || body) ? credentialWrong(code) : refused('PAYLOAD_INVALID', code)
    case 401:
    case 403:
      // The browser subscribed with another key of this project, perhaps an old one: only this subscription is useless.
      return isOtherKey(reason, body) ? tokenDead('TOKEN_MISMATCH', code) : credentialWrong(code)
    case 404:
      return tokenDead('TOKEN_INVALID', code)
    case 410:
      return tokenDead('TOKEN_UNREGISTERED', code)
    case 413:
      return refused('PAYLOAD_TOO_LARGE', code)
    // Windows responds with 406 where others use 429.
    case 406:
    case 429:
      return later('PROJECT_RATE_LIMITED', code, wait ?? retryLimitMs, { scope: 'gateway', pushback: true })
  }
  if (status >= 300 && status < 400)
    return refused('TOKEN_INVALID', code, 'The push service redirects, and redirects are not followed.')
  if (status >= 500) return later('GATEWAY_UNAVAILABLE', code, wait ?? retryOverloadMs, { pushback: true })
  return refused('INTERNAL_ERROR', code)
}
