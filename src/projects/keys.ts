import { hash, randomBytes } from 'node:crypto'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Policy } from './policy.ts'
import type { KeyRow } from './store.ts'

export type KeyKind = 'secret' | 'public'
export type Role = 'admin' | 'editor' | 'viewer'

/** The name of keys and tokens that a start of the service adds. */
export const bootstrapName = 'bootstrap'

export const prefixes = {
  secret: 'svc_sk_',
  public: 'svc_pk_',
  token: 'svc_at_',
  session: 'svc_ss_',
  code: 'svc_sc_',
  invitation: 'svc_in_',
  reset: 'svc_rs_'
} as const

/** 32 random bytes. Only their hash is stored; against guessing nothing slower than SHA-256 is needed. */
export const newCredential = (kind: keyof typeof prefixes): string =>
  prefixes[kind] + randomBytes(32).toString('base64url')

export const hashOf = (credential: string): Buffer => hash('sha256', credential, 'buffer')

/** The same hash as text, for look-ups in memory. */
export const hashTextOf = (credential: string): string => hash('sha256', credential, 'base64')

/** The part shown in lists: enough to distinguish keys, and too little to use. */
export const shownPrefix = (credential: string): string => credential.slice(0, 12)

/** Longer than any credential: settings may contain 255 characters. */
const longest = 512

/**
 * Whether a text can be a credential of this kind. Other texts need no look-up. Operators may choose tokens without a
 * prefix.
 */
export const isPossible = (text: string, kind: keyof typeof prefixes): boolean =>
  text.length <= longest && (kind === 'token' || text.startsWith(prefixes[kind]))

export type NewKey = Omit<KeyRow, 'last_used_at'> & { key: string }

export interface KeyOptions {
  text?: string | undefined
  expiresAt?: Date | null
  policy?: Policy | null
  originId?: string | null
}

export function newKey(
  projectId: ProjectId,
  kind: KeyKind,
  name: string,
  { expiresAt = null, policy = null, originId = null, text = newCredential(kind) }: KeyOptions
): NewKey {
  const ends = { created_at: new Date(), expires_at: expiresAt }
  const rules = { policy, origin_id: originId }
  return { id: newId(), project_id: projectId, kind, name, prefix: shownPrefix(text), ...ends, ...rules, key: text }
}

/** The fields for the audit log. */
export const detailsOf = ({ kind, name, expires_at, policy }: NewKey) => ({
  kind,
  name,
  ...(expires_at && { expires_at }),
  ...(policy && { policy })
})
