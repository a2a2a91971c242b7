import type { CheckedTrigger } from '../campaigns/campaigns.ts'
import { refusing } from '../platform/fields.ts'
import type { IdempotencyKey } from '../platform/idempotency/idempotency.ts'
import type { ApiCaller, Permit } from '../projects/projects.ts'

/** What the policy of a key lets a trigger do. */
export interface PermittedTrigger {
  /** `repeat`: only the response of the first request may be returned. */
  permit: Permit | 'repeat' | undefined
  /** Of the confirmation that the caller redeems: all requests with it are one trigger. */
  key?: IdempotencyKey
  /** The trigger, of the version that the caller agreed to. */
  trigger: CheckedTrigger
}

/** Judges a trigger by the policy of its caller's key, and throws to refuse it. */
export type PermitTrigger = (
  caller: ApiCaller,
  trigger: CheckedTrigger,
  confirmationId?: string
) => undefined | Promise<PermittedTrigger>

/** The field means something only to keys with a policy. For others it is one that a trigger does not know. */
export function confirmationIn(caller: ApiCaller, body: unknown): string | undefined {
  const { confirmation_id: id } = (caller.key?.policy ? body : {}) as { confirmation_id?: unknown }
  if (id === undefined || id === null) return undefined
  if (typeof id !== 'string') throw refusing('invalid_trigger')('confirmation_id', 'must be a string')
  return id
}
