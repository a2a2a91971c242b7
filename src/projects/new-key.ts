import { newId, type ProjectId } from '../platform/ids.ts'
import { type KeyKind, newCredential, shownPrefix } from './keys.ts'
import type { Policy } from './policy.ts'
import type { KeyRow } from './store.ts'

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
