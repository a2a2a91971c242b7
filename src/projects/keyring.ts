import type { Db, Pool } from '../platform/db/db.ts'
import { notify } from '../platform/db/store.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { type AuditEntry, record } from './audit/audit-store.ts'
import { recordInstallation } from './audit/installation-store.ts'
import { type Credentials, changedChannel } from './credentials.ts'
import { hashOf, type KeyKind, newCredential, type Role, shownPrefix } from './keys.ts'
import { detailsOf, type KeyOptions, type NewKey, newKey } from './new-key.ts'
import type { Policy } from './policy.ts'
import * as store from './store.ts'

/** One transaction: the change, its audit entry and the notification of other nodes. */
export type Change = <Result>(
  projectId: ProjectId,
  entry: AuditEntry | ((done: Result) => AuditEntry),
  work: (tx: Db) => Promise<Result>
) => Promise<Result>

/** Makes, rotates and revokes the keys of projects and the tokens of the management API. */
export function createKeyring({
  pool,
  credentials,
  log,
  change
}: {
  pool: Pool
  credentials: Pick<Credentials, 'forget'>
  log: Log
  change: Change
}) {
  return {
    /** Only this response contains the text of the key. */
    async createKey(
      actor: string,
      projectId: ProjectId,
      kind: KeyKind,
      name: string,
      options: Omit<KeyOptions, 'originId'> = {}
    ): Promise<NewKey> {
      if (kind === 'public' && options.policy)
        throw refusing('invalid_parameter')('policy', 'only a secret key can have a policy')
      const key = newKey(projectId, kind, name, options)
      const entry = { actor, action: 'key.create', target: key.id, details: detailsOf(key) }
      await change(projectId, entry, async (tx) => {
        if (!(await store.insertKey(tx, hashOf(key.key), key)))
          throw new Refusal('conflict', 'This key exists already.')
      })
      return key
    },
    /**
     * Makes a new key of the same kind, name and policy. The old key works for the overlap, or until its own end if
     * that is earlier.
     */
    async rotateKey(actor: string, projectId: ProjectId, id: string, overlapMs: number, expiresAt: Date | null) {
      return pool
        .transaction(async (tx) => {
          const old = await store.lockKey(tx, projectId, id)
          if (!old) throw new Refusal('not_found', 'There is no such key.')
          if (old.left_ms !== null && old.left_ms <= 0)
            throw new Refusal('conflict', 'This key has expired. Create a new one.')
          const inherited = { policy: old.policy, originId: old.origin_id ?? id }
          const key = newKey(projectId, old.kind, old.name, { expiresAt, ...inherited })
          await store.insertKey(tx, hashOf(key.key), key)
          const replaces = { id, expires_at: await store.expireKey(tx, projectId, id, overlapMs) }
          const details = { ...detailsOf(key), new_key_id: key.id, old_key_expires_at: replaces.expires_at }
          await record(tx, projectId, { actor, action: 'key.rotate', target: id, details })
          await tx.run(notify, [changedChannel, projectId])
          return { ...key, replaces }
        })
        .finally(credentials.forget)
    },
    listKeys: (projectId: ProjectId, before: string | null, limit: number) =>
      store.listKeys(pool, projectId, before, limit),
    /**
     * One policy holds for a key and its rotations: the old key would keep the old limits during the overlap. Every node
     * applies it from its next look-up of the key on, as with a revoked key.
     */
    async changePolicy(
      actor: string,
      projectId: ProjectId,
      id: string,
      revise: (old: Policy | null) => Policy | null
    ): Promise<store.KeyRow> {
      const entryOf = ({ key: { name, policy }, before }: { key: store.KeyRow; before: Policy | null }) => {
        const details = { name, policy, before: { policy: before } }
        return { actor, action: 'key.policy', target: id, details }
      }
      const { key } = await change(projectId, entryOf, async (tx) => {
        const key = await store.lockKey(tx, projectId, id)
        if (!key) throw new Refusal('not_found', 'There is no such key.')
        const policy = revise(key.policy)
        if (key.kind === 'public' && policy)
          throw refusing('invalid_parameter')('policy', 'only a secret key can have a policy')
        await store.setChainPolicy(tx, projectId, key.origin_id ?? id, policy)
        return { key: { ...key, policy }, before: key.policy }
      })
      return key
    },
    async revokeKey(actor: string, projectId: ProjectId, id: string): Promise<void> {
      const entryOf = (name: string) => ({ actor, action: 'key.revoke', target: id, details: { name } })
      await change(projectId, entryOf, async (tx) => {
        const key = await store.lockKey(tx, projectId, id)
        if (!key || !(await store.deleteKey(tx, projectId, id))) throw new Refusal('not_found', 'There is no such key.')
        return key.name
      })
    },
    /** Without a project the token reaches the whole installation. */
    async createToken(
      actor: string,
      projectId: ProjectId | null,
      role: Role,
      name: string,
      text: string = newCredential('token')
    ) {
      const token = {
        id: newId(),
        project_id: projectId,
        role,
        name,
        prefix: shownPrefix(text),
        created_at: new Date()
      }
      const insert = async (tx: Db) => {
        if (!(await store.insertToken(tx, hashOf(text), token)))
          throw new Refusal('conflict', 'This token exists already.')
      }
      if (projectId === null) {
        await pool.transaction(async (tx) => {
          await insert(tx)
          await recordInstallation(tx, { actor, action: 'token.create', target: token.id, details: { role, name } })
        })
        // In the service's own log too, for programs that watch it.
        log.info({ actor, action: 'token.create', target: token.id, role, name }, 'audit')
      } else
        await change(projectId, { actor, action: 'token.create', target: token.id, details: { role, name } }, insert)
      credentials.forget()
      return { ...token, token: text }
    },
    listTokens: (only: ProjectId[] | null, before: string | null, limit: number) =>
      store.listTokens(pool, only, before, limit),
    async revokeToken(actor: string, only: ProjectId[] | null, id: string): Promise<void> {
      await pool.transaction(async (tx) => {
        const token = await store.deleteToken(tx, only, id)
        if (!token) throw new Refusal('not_found', 'There is no such token.')
        const details = { name: token.name }
        const entry = { actor, action: 'token.revoke', target: id, details }
        if (token.project_id) await record(tx, token.project_id, entry)
        else {
          await recordInstallation(tx, entry)
          log.info({ actor, action: 'token.revoke', target: id }, 'audit')
        }
        await tx.run(notify, [changedChannel, id])
      })
      credentials.forget()
    }
  }
}
