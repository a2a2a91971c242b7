import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http2'
import type { Credential } from './credentials/credential.ts'
import type { Push } from './push.ts'
import { type FailureCode, failureReasons } from './reasons.ts'
import type { Body, Request } from './transport/transport.ts'

/** A request for the transport. Its headers include method and path. */
export type Prepared = Request

/** A request of a rare kind. */
export const requestOf = (headers: Record<string, string>, body: Body): Prepared => ({
  names: Object.keys(headers),
  values: Object.values(headers),
  body
})

/** Joins the scheme and the provider token of `authorization`, once for all pushes that follow each other. */
export function createAuthorization(scheme: string): (providerToken: string) => string {
  let token = ''
  let value = `${scheme} `
  return (providerToken) => {
    if (providerToken !== token) {
      token = providerToken
      value = `${scheme} ${providerToken}`
    }
    return value
  }
}

export interface Size {
  bytes: number
  most: number
}

export interface Refused {
  kind: 'rejected'
  reason: FailureCode
  message: string
  gatewayCode: string
  /** The token has been dead since this time (milliseconds since 1970), or since the push was sent. */
  tokenDead?: number | 'now'
  /** The gateway will refuse everything that is sent with this credential in the same way. */
  credentialWrong?: true
}

export interface Later {
  kind: 'retry'
  reason: FailureCode
  message: string
  gatewayCode: string
  /** The wait that the gateway asked for, or one that suits the reason. */
  afterMs: number
  /** The pushes that have to wait: this one, all to its device, or all to this gateway. */
  scope: 'push' | 'device' | 'gateway'
  /** The gateway has more pushes than it can take. */
  pushback: boolean
}

/** The provider token is too old, or issued in the future. */
export interface Renew {
  kind: 'renew'
  gatewayCode: string
  /** The verdict if another token makes no difference or there is none; without this field the push waits. */
  otherwise?: Refused
}

/** The meaning of one response. The sender also considers the responses to other pushes. */
export type Verdict =
  | { kind: 'accepted'; gatewayMessageId: string; channels?: string[] }
  | Refused
  | Later
  | Renew
  /** This connection is useless; another one may work. `otherwise` is for a push that has tried another. */
  | { kind: 'reconnect'; otherwise: Refused | Later }

/** Makes payloads and reads responses; it knows nothing of connections. */
export interface Gateway<C extends Credential = Credential> {
  /** The origin to send to, or a refusal. */
  origin(push: Push, credential: C): string | Refused
  /** Whether the origin is of a kind of which devices can make up any number. */
  isUnlisted?(origin: string): boolean
  /** `providerToken` is '' for gateways without one. */
  prepare(push: Push, credential: C, providerToken: string, now: number): Prepared | Refused
  /** The bytes of a push that count against the limit of the gateway. */
  measure(push: Push, now: number): Size
  read(push: Push, status: number, headers: IncomingHttpHeaders, body: string): Verdict
}

export const refused = (reason: FailureCode, gatewayCode = '', message: string = failureReasons[reason]): Refused => ({
  kind: 'rejected',
  reason,
  message,
  gatewayCode
})

/** `name` is the gateway's, for people. */
export const tooLarge = (name: string, { bytes, most }: Size): Refused | undefined =>
  bytes > most ? refused('PAYLOAD_TOO_LARGE', '', `The payload has ${bytes} bytes; ${name} takes ${most}.`) : undefined

export const tokenDead = (
  reason: 'TOKEN_INVALID' | 'TOKEN_UNREGISTERED' | 'TOKEN_MISMATCH',
  gatewayCode: string,
  since: number | 'now' = 'now'
): Refused => ({ ...refused(reason, gatewayCode), tokenDead: since })

export const credentialWrong = (gatewayCode: string, message?: string): Refused => ({
  ...refused('CREDENTIALS_INVALID', gatewayCode, message),
  credentialWrong: true
})

export const later = (
  reason: FailureCode,
  gatewayCode: string,
  afterMs: number,
  { scope = 'push', pushback = false }: { scope?: Later['scope']; pushback?: boolean } = {}
): Later => ({ kind: 'retry', reason, message: failureReasons[reason], gatewayCode, afterMs, scope, pushback })

/** Proxies in front of gateways respond with HTML; it reads as an empty object. */
export function jsonOf(body: string): Record<string, unknown> {
  if (!body.trimStart().startsWith('{')) return {}
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

/** Bytes as the gateway counts them. */
export const bytesOf = (payload: unknown): Buffer => Buffer.from(JSON.stringify(payload))

/** Up to `length` characters of base64url that are the same for the same text. */
export const digest = (text: string, length: number) =>
  createHash('sha256').update(text).digest('base64url').slice(0, length)

/** The value of `apns-expiration`. Apple accepts at most ten digits, which is enough. */
export const expiration = ({ notAfter }: Push) => String(Math.min(9_999_999_999, Math.floor(notAfter / 1000)))

/**
 * The value of `apns-collapse-id`. Only the equality of two ids matters, so an id that a header cannot carry or that
 * Apple refuses is sent as a digest.
 */
export const collapseHeader = (collapseId: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/.test(collapseId) ? collapseId : digest(collapseId, 43)
