import type { IncomingHttpHeaders } from 'node:http2'
import { retryAfterMs } from '../../platform/net/retry-after.ts'
import { credentialWrong, later, refused, tokenDead, type Verdict } from '../gateway.ts'
import type { FailureCode } from '../reasons.ts'

const reconnect = (otherwise: Extract<Verdict, { kind: 'reconnect' }>['otherwise']): Verdict => ({
  kind: 'reconnect',
  otherwise
})

/** Apple's reasons with their failure codes. Reasons that depend on more than the word are below. */
const plain = new Map<string, FailureCode>([
  ['BadCollapseId', 'PAYLOAD_INVALID'],
  ['BadExpirationDate', 'PAYLOAD_INVALID'],
  ['BadMessageId', 'PAYLOAD_INVALID'],
  ['BadPriority', 'PAYLOAD_INVALID'],
  ['BadRequestPayload', 'PAYLOAD_INVALID'],
  ['InvalidPushType', 'PAYLOAD_INVALID'],
  ['MissingDeviceToken', 'PAYLOAD_INVALID'],
  ['MissingPushType', 'PAYLOAD_INVALID'],
  ['PayloadEmpty', 'PAYLOAD_INVALID'],
  ['PayloadTooLarge', 'PAYLOAD_TOO_LARGE'],
  ['BadChannelId', 'CHANNEL_NOT_FOUND'],
  ['BadRequestParams', 'PAYLOAD_INVALID'],
  ['CannotCreateChannelConfig', 'CHANNEL_LIMIT'],
  ['ChannelNotRegistered', 'CHANNEL_NOT_FOUND'],
  ['MissingChannelId', 'INTERNAL_ERROR'],
  ['BadPath', 'INTERNAL_ERROR'],
  ['DuplicateHeaders', 'INTERNAL_ERROR'],
  ['MethodNotAllowed', 'INTERNAL_ERROR']
])

/** The key, the team, the bundle id or the environment is wrong: no push of this credential can succeed. */
const wrongCredential = new Map<string, string | undefined>([
  ['BadCertificate', undefined],
  ['BadCertificateEnvironment', 'The certificate is for the other environment.'],
  ['BadEnvironmentKeyIdInToken', 'The key is for the other environment (sandbox or production).'],
  ['BadTopic', 'The bundle id of the credential is not valid.'],
  ['Forbidden', undefined],
  ['InvalidProviderToken', 'Apple refuses the key: key id, team id and key do not belong together, or it was revoked.'],
  ['MissingProviderToken', undefined],
  ['MissingTopic', 'The credential has no bundle id.'],
  ['TopicDisallowed', 'The key may not send to the bundle id of the credential.'],
  ['UnrelatedKeyIdInToken', undefined]
])

/** Faults of the app at Apple that concern channels only: other pushes of the credential succeed. */
const wrongForChannels = new Map<string, string>([
  ['FeatureNotEnabled', 'Turn on the broadcast capability for the bundle id in the Apple developer account.'],
  ['TopicMismatch', 'The channel belongs to another bundle id than the credential.']
])

const retryDeviceMs = 2_000
const retryMs = 1_000
const retryOverloadMs = 5_000
const retryProviderMs = 60_000

export function readReason(
  status: number,
  reason: string,
  timestamp: number | undefined,
  headers: IncomingHttpHeaders
): Verdict {
  const wait = retryAfterMs(headers)
  switch (reason) {
    case 'BadDeviceToken':
      return tokenDead('TOKEN_INVALID', reason)
    case 'DeviceTokenNotForTopic':
      return tokenDead('TOKEN_MISMATCH', reason)
    case 'Unregistered':
    case 'ExpiredToken':
      return tokenDead('TOKEN_UNREGISTERED', reason, timestamp ?? 'now')
    case 'ExpiredProviderToken':
      return { kind: 'renew', gatewayCode: reason }
    // Apple calls a token whose issue time lies in the future invalid, not expired.
    case 'InvalidProviderToken':
      return { kind: 'renew', gatewayCode: reason, otherwise: credentialWrong(reason, wrongCredential.get(reason)) }
    case 'UnrelatedKeyIdInToken':
      return reconnect(credentialWrong(reason))
    case 'TooManyProviderTokenUpdates':
      return reconnect(later('PROJECT_RATE_LIMITED', reason, wait ?? retryProviderMs, { scope: 'gateway' }))
    case 'IdleTimeout':
    case 'Shutdown':
      return reconnect(later('GATEWAY_UNAVAILABLE', reason, wait ?? retryMs, { scope: 'gateway', pushback: true }))
    case 'TooManyRequests':
      return later('DEVICE_RATE_LIMITED', reason, wait ?? retryDeviceMs, { scope: 'device' })
  }
  const code = plain.get(reason)
  if (code) return refused(code, reason)
  const forChannels = wrongForChannels.get(reason)
  if (forChannels) return refused('CREDENTIALS_INVALID', reason, forChannels)
  if (wrongCredential.has(reason)) return credentialWrong(reason, wrongCredential.get(reason))
  return byStatus(status, reason, wait)
}

/** The verdict for an unknown or missing reason. It never disables a token: only a reason of Apple may. */
function byStatus(status: number, reason: string, wait: number | undefined): Verdict {
  const code = reason || String(status)
  if (status === 403) return credentialWrong(code)
  if (status === 410) return refused('TOKEN_UNREGISTERED', code)
  if (status === 413) return refused('PAYLOAD_TOO_LARGE', code)
  if (status === 429) return later('DEVICE_RATE_LIMITED', code, wait ?? retryDeviceMs, { scope: 'device' })
  if (status === 500) return later('GATEWAY_UNAVAILABLE', code, wait ?? retryMs)
  if (status > 500) return later('GATEWAY_UNAVAILABLE', code, wait ?? retryOverloadMs, { pushback: true })
  return refused(status === 400 ? 'PAYLOAD_INVALID' : 'INTERNAL_ERROR', code)
}
