import type { Db } from '../db/db.ts'
import { asTexts, statement, texts } from '../db/statement.ts'
import type { ProjectId } from '../ids.ts'

/** A caller's key, the scope it counts in, and the SHA-256 of the body sent with it, in hexadecimal digits. */
export interface IdempotencyKey {
  scope: string
  key: string
  fingerprint: string
}

export interface KeyedWork<Work> {
  key: IdempotencyKey
  work: Work
  /** Undefined if it is not known yet. */
  answer?: unknown
}

/** Stored with the work: the process that does it. */
export interface Holder {
  holder?: number | null
}

export interface KeyRow<Work, Answer> {
  fingerprint: string
  work: Work & Holder
  answer: Answer | null
  held_until: Date
}

/**
 * How long a call may be silent before a repeat takes its work over, if the database cannot tell whether its process is
 * alive. Longer than any request waits for gateways, and short enough that the work of a dead process is resumed within
 * 15 s.
 */
export const holdMs = 12_000

// Both lock the project, also one that is being erased: the work itself notices that and refuses. A CTE would not do: Citus
// would compute the conflict apart from the insertion, so that one key that exists counts as written, and many are refused.
const beginRow = statement(
  'idempotency.begin',
  `insert into idempotency_keys (project_id, scope, key, fingerprint, work, held_until, expires_at)
   select p.project_id, $2, $3, decode($4, 'hex'), $5, $7, $8 from projects p
    where p.project_id = $1 for key share of p
   on conflict (project_id, scope, key) do update
      set fingerprint = excluded.fingerprint, work = excluded.work, answer = null,
          held_until = excluded.held_until, expires_at = excluded.expires_at
    where idempotency_keys.expires_at <= $6`
)
/** Claims those keys of many calls that are new or expired. Its parameters begin at `$n` and are filled by `keyColumns`. */
export function claimRows(n: number): string {
  const at = (offset: number) => `$${n + offset}` as const
  return `insert into idempotency_keys (project_id, scope, key, fingerprint, work, answer, held_until, expires_at)
   select p.project_id, ${at(0)}, k.key, decode(k.fingerprint, 'hex'), k.work, k.answer, ${at(5)}, ${at(6)}
     from projects p
    cross join rows from (
      json_array_elements_text(${at(1)}::json),
      unnest(string_to_array(${at(2)}, ','), ${texts(at(3))}::jsonb[], ${texts(at(4))}::jsonb[])
    ) as k(key, fingerprint, work, answer)
    where p.project_id = $1 for key share of p
   on conflict (project_id, scope, key) do update
      set fingerprint = excluded.fingerprint, work = excluded.work, answer = excluded.answer,
          held_until = excluded.held_until, expires_at = excluded.expires_at
    where idempotency_keys.expires_at <= ${at(7)}`
}
const beginRows = statement('idempotency.begin_many', `${claimRows(2)} returning key`)
// An expired key counts as new, also before it is swept.
const findRows = statement(
  'idempotency.find_many',
  `select key, encode(fingerprint, 'hex') as fingerprint, work, answer from idempotency_keys
    where project_id = $1 and scope = $2 and key = any($3::text[]) and expires_at > $4`
)
const findRow = statement(
  'idempotency.find',
  `select encode(fingerprint, 'hex') as fingerprint, work, answer, held_until from idempotency_keys
    where project_id = $1 and scope = $2 and key = $3 for update`
)
const resumeRow = statement(
  'idempotency.resume',
  `update idempotency_keys set held_until = $4, work = work || $5 where project_id = $1 and scope = $2 and key = $3`
)
const settleRow = statement(
  'idempotency.settle',
  `update idempotency_keys set answer = $4 where project_id = $1 and scope = $2 and key = $3`
)
const sweepRows = statement(
  'idempotency.sweep',
  `delete from idempotency_keys where (project_id, scope, key) in (
     select project_id, scope, key from idempotency_keys where expires_at <= $1 limit 5000)`,
  { acrossProjects: 'keys of all projects end by their time' }
)

const eraseRows = statement(
  'idempotency.erase_window',
  `delete from idempotency_keys where project_id = $1 and (scope, key) in (
     select scope, key from idempotency_keys where project_id = $1 limit 5000)`
)

/** The parameters of `claimRows`. All keys are of one scope. */
export function keyColumns(wanted: KeyedWork<unknown>[], hours: number): unknown[] {
  const scope = wanted[0]?.key.scope
  // A key that is stored in another scope is not found again, so its repeat would act twice.
  if (wanted.some(({ key }) => key.scope !== scope)) throw new Error('Keys of several scopes are claimed together.')
  const now = Date.now()
  // Every node claims keys in the same order, so that two batches cannot wait for each other.
  const rows = wanted.toSorted((one, two) => (one.key.key < two.key.key ? -1 : 1))
  return [
    scope,
    JSON.stringify(rows.map(({ key }) => key.key)),
    rows.map(({ key }) => key.fingerprint).join(','),
    asTexts(rows.map(({ work }) => work)),
    asTexts(rows.map(({ answer }) => answer)),
    new Date(now + holdMs),
    new Date(now + hours * 3_600_000),
    new Date(now)
  ]
}

/** Inserts the key. Returns false if it is taken. */
export const beginKey = async (
  tx: Db,
  projectId: ProjectId,
  { scope, key, fingerprint }: IdempotencyKey,
  work: object,
  { now, heldUntil, expiresAt }: Record<'now' | 'heldUntil' | 'expiresAt', Date>
): Promise<boolean> => {
  const values = [projectId, scope, key, fingerprint, JSON.stringify(work), now, heldUntil, expiresAt]
  return (await tx.run(beginRow, values)) > 0
}

/** Inserts the keys that are free, and returns them. */
export const beginKeys = async (tx: Db, projectId: ProjectId, wanted: KeyedWork<unknown>[], hours: number) =>
  (await tx.query<{ key: string }>(beginRows, [projectId, ...keyColumns(wanted, hours)])).map(({ key }) => key)

/** Locks the row of a key. */
export const findKey = <Work, Answer>(tx: Db, projectId: ProjectId, { scope, key }: IdempotencyKey) =>
  tx.one<KeyRow<Work, Answer>>(findRow, [projectId, scope, key])

export const findKeys = <Work, Answer>(db: Db, projectId: ProjectId, scope: string, keys: string[]) =>
  db.query<KeyRow<Work, Answer> & { key: string }>(findRows, [projectId, scope, keys, new Date()])

export const resumeKey = (
  tx: Db,
  projectId: ProjectId,
  { scope, key }: IdempotencyKey,
  heldUntil: Date,
  holder: Holder
) => tx.run(resumeRow, [projectId, scope, key, heldUntil, JSON.stringify(holder)])

/** Stores the response that every repeat gets. Call it in the transaction that ends the work, if there is one. */
export const settleKey = (db: Db, projectId: ProjectId, { scope, key }: IdempotencyKey, answer: unknown) =>
  db.run(settleRow, [projectId, scope, key, JSON.stringify(answer)])

/** Deletes a batch of expired keys. */
export const sweepKeys = (db: Db, now: Date): Promise<number> => db.run(sweepRows, [now])

/** Deletes a batch of the keys of a project that is being erased. */
export const eraseKeyWindow = (db: Db, projectId: ProjectId): Promise<number> => db.run(eraseRows, [projectId])
