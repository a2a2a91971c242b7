import { type ApnsSecret, parseApns } from '../apns/credential.ts'
import { type FcmSecret, parseFcm } from '../fcm/credential.ts'
import type { GatewayName, PushEnvironment } from '../push.ts'
import { parseWebPush, type WebPushSecret } from '../webpush/credential.ts'

export type Secret = ApnsSecret | FcmSecret | WebPushSecret

/** One entry to be stored: `secret` is sealed, `facts` is what everybody who may look at the project sees. */
export interface Saved<Kind = Secret> {
  environment: PushEnvironment | ''
  app: string
  secret: Kind
  facts: Record<string, string>
}

export const gatewayNames: readonly GatewayName[] = ['apns', 'fcm', 'webpush']

/** Checks what was sent, down to having signed with it once. Throws a refusal that names everything that is wrong. */
export function parseCredential(
  gateway: GatewayName,
  body: Record<string, unknown>,
  pairInUse: WebPushSecret | undefined
): Saved[] {
  if (gateway === 'apns') return parseApns(body)
  return gateway === 'fcm' ? parseFcm(body) : parseWebPush(body, pairInUse)
}
