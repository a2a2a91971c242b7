import { hash, randomBytes } from 'node:crypto'

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
