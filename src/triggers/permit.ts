import type { CheckedTrigger } from '../campaigns/campaigns.ts'
import { refusing } from '../platform/fields.ts'
import type { IdempotencyKey } from '../platform/idempotency/idempotency.ts'
import type { ApiCaller, Permit } from '../projects/projects.ts'

/** The limits that the policy of a key sets for a trigger. */
export interface PermittedTrigger {
  /** `repeat`: only the response of the first request may be returned. */
  permit: Permit | 'repeat' | undefined
  /** The key of the confirmation that the caller redeems: all requests with it lead to one trigger. */
  key?: IdempotencyKey
  /** The trigger, with the version that the caller agreed to. */
  trigger: CheckedTrigger
}

/** Checks a trigger against the policy of its caller's key, and throws to refuse it. */
export type PermitTrigger = (
  caller: ApiCaller,
  trigger: CheckedTrigger,
  confirmationId?: string
) => undefined | Promise<PermittedTrigger>

/** Only keys with a policy use this field. For others it is an unknown field. */
export function confirmationIn(caller: ApiCaller, body: unknown): string | undefined {
  const { confirmation_id: id } = (caller.key?.policy ? body : {}) as { confirmation_id?: unknown }
  if (id === undefined || id === null) return undefined
  if (typeof id !== 'string') throw refusing('invalid_trigger')('confirmation_id', 'must be a string')
  return id
}
