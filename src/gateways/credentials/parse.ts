import { type ApnsSecret, parseApns } from '../apns/credential.ts'
import { type FcmSecret, parseFcm } from '../fcm/credential.ts'
import type { GatewayName } from '../push.ts'
import { parseWebPush, type WebPushSecret } from '../webpush/credential.ts'
import type { Saved } from './credential.ts'

type Secret = ApnsSecret | FcmSecret | WebPushSecret

export const gatewayNames: readonly GatewayName[] = ['apns', 'fcm', 'webpush']

/** Checks the fields and signs once with the key. Throws a refusal that names every fault. */
export function parseCredential(
  gateway: GatewayName,
  body: Record<string, unknown>,
  pairInUse: WebPushSecret | undefined
): Saved<Secret>[] {
  if (gateway === 'apns') return parseApns(body)
  return gateway === 'fcm' ? parseFcm(body) : parseWebPush(body, pairInUse)
}
