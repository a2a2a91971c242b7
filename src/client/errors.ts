import type { Problem } from './schemas.ts'

export type ErrorCode = NonNullable<Problem['code']>

/**
 * What kind of failure it was:
 * `connection`, `timeout`: no whole response arrived, after all attempts. `aborted`: your signal ended the call.
 * `request`: the request is wrong, and repeating it does not help. `authentication`, `forbidden`, `not_found`, `conflict`:
 * 401, 403, 404, 409. `rate_limited`: 429. `unavailable`: 5xx, after all attempts.
 */
export type ErrorKind =
  | 'connection'
  | 'timeout'
  | 'aborted'
  | 'request'
  | 'authentication'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'rate_limited'
  | 'unavailable'

export interface ErrorFacts {
  kind: ErrorKind
  operation: string
  status?: number | undefined
  code?: ErrorCode | undefined
  details?: { path: string; message: string }[] | undefined
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  attempts: number
}

/** Why a call failed, and what to do about it. Every failure of a call is one of these. */
export class TidingsError extends Error {
  override readonly name = 'TidingsError'
  readonly kind: ErrorKind
  /** The name of the operation, such as sendMessages. */
  readonly operation: string
  /** The HTTP status. Absent if no response arrived. */
  readonly status: number | undefined
  /** What was wrong, as a word that stays. Absent if no response arrived, or a proxy made it. */
  readonly code: ErrorCode | undefined
  /** The fields that were wrong. */
  readonly details: { path: string; message: string }[]
  /** Under this id the log of the service has the request. */
  readonly requestId: string | undefined
  /** How long to wait before the next attempt, if the service said so. */
  readonly retryAfterMs: number | undefined
  /** How often the request was sent. */
  readonly attempts: number
  /** What to do, as a sentence. */
  readonly advice: string

  constructor(message: string, facts: ErrorFacts, options?: ErrorOptions) {
    const advice = adviceFor(facts)
    super(`${facts.operation}: ${message.replace(/\.?$/, '.')} ${advice}`, options)
    this.kind = facts.kind
    this.operation = facts.operation
    this.status = facts.status
    this.code = facts.code
    this.details = facts.details ?? []
    this.requestId = facts.requestId
    this.retryAfterMs = facts.retryAfterMs
    this.attempts = facts.attempts
    this.advice = advice
  }
}

export function kindOf(status: number): ErrorKind {
  if (status === 401) return 'authentication'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  if (status === 409) return 'conflict'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'unavailable' : 'request'
}

const byCode: Partial<Record<ErrorCode, string>> = {
  secret_key_required: 'Use a secret key (svc_sk_…) on your backend; a public one is for apps.',
  missing_user_token: 'Pass userToken: the project verifies who its users are.',
  invalid_user_token: 'Have your backend sign a new user token.',
  user_token_mismatch: 'Pass the user token of the user that the call is about.',
  policy_refused: 'Ask an administrator to change the policy of this key.',
  approval_required: 'Ask for it as an agent, so that a person can approve it.',
  confirmation_required: 'Preview it, and pass the confirmation_id of the preview.',
  dry_run_only: 'The policy of this key allows reading and previews only.',
  device_not_found: 'Register the device first.',
  idempotency_key_in_use: 'The first call with this key still runs: try again in a moment with the same key.',
  idempotency_key_reused: 'Use another idempotency key, or send exactly the body of the first call.',
  campaign_not_found: 'Check the id of the campaign, and the project.',
  campaign_not_active: 'Activate the campaign first.',
  campaign_not_api_triggered: 'Only campaigns of the type api_triggered can be triggered by a call.',
  body_too_large: 'Send less at once.',
  overloaded: 'Send fewer requests at once.'
}

const byKind: Record<ErrorKind, string> = {
  connection: 'Check the url and the network; the request may have arrived.',
  timeout: 'Raise timeoutMs, or try again with the same idempotency key; the request may have arrived.',
  aborted: 'The request may have arrived.',
  request: 'Correct the request.',
  authentication: 'Check the project id and the key or token.',
  forbidden: 'Use a key or token that may do this.',
  not_found: 'Check the id, and the project.',
  conflict: 'Read it again before you change it.',
  rate_limited: 'Send fewer requests per second, or have the limit of the project raised.',
  unavailable: 'Try again later with the same idempotency key; the log of the service has more under the request id.'
}

const adviceFor = ({ kind, code }: ErrorFacts): string => (code && byCode[code]) ?? byKind[kind]
