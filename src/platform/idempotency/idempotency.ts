import type { Db } from '../db/db.ts'
import type { Presence } from '../db/presence.ts'
import { asTexts, statement, texts } from '../db/statement.ts'
import type { ProjectId } from '../ids.ts'

/** A caller's key, where it counts, and the SHA-256 of what was asked under it, in hexadecimal digits. */
export interface IdempotencyKey {
  scope: string
  key: string
  fingerprint: string
}

/** What is known of a key. */
export type Claim<Work, Answer> =
  /** It is ours: the row stands in this transaction, with the work that was given. */
  | { state: 'begun' }
  /**
   * It was begun by another process, which is gone (`gone`: the database knows) or has not been heard of for some seconds.
   * It is ours now: go on with that work.
   */
  | { state: 'resumed'; work: Work; gone: boolean }
  | { state: 'answered'; answer: Answer }
  /** The first call still runs, for all the key knows. */
  | { state: 'running'; work?: Work }
  /** The key was used for something else. */
  | { state: 'other' }

/**
 * How long a call may be silent before a repeat takes its work over, where nobody can tell whether its process lives.
 * Longer than any request waits for gateways, and so short that what a dead process held is done by others within 15 s.
 */
const holdMs = 12_000

// As `heldProject`, also where the project is being erased: the work itself finds that out and says so.
const heldAnyway = 'with project as (select project_id from projects where project_id = $1 for key share)'
const begin = statement(
  'idempotency.begin',
  `${heldAnyway}
   insert into idempotency_keys (project_id, scope, key, fingerprint, work, held_until, expires_at)
   select p.project_id, $2, $3, decode($4, 'hex'), $5, $7, $8 from project p
   on conflict (project_id, scope, key) do update
      set fingerprint = excluded.fingerprint, work = excluded.work, answer = null,
          held_until = excluded.held_until, expires_at = excluded.expires_at
    where idempotency_keys.expires_at <= $6`
)
/**
 * Takes those keys of many calls that are new, or whose time is over, for a statement with a CTE `project`. The parameters
 * are from `$n` on those that `keyColumns` fills.
 */
export function takeKeys(n: number): string {
  const at = (offset: number) => `$${n + offset}` as const
  return `insert into idempotency_keys (project_id, scope, key, fingerprint, work, answer, held_until, expires_at)
   select p.project_id, ${at(0)}, k.key, decode(k.fingerprint, 'hex'), k.work, k.answer, ${at(5)}, ${at(6)}
     from project p
    cross join rows from (
      json_array_elements_text(${at(1)}::json),
      unnest(string_to_array(${at(2)}, ','), ${texts(at(3))}::jsonb[], ${texts(at(4))}::jsonb[])
    ) as k(key, fingerprint, work, answer)
   on conflict (project_id, scope, key) do update
      set fingerprint = excluded.fingerprint, work = excluded.work, answer = excluded.answer,
          held_until = excluded.held_until, expires_at = excluded.expires_at
    where idempotency_keys.expires_at <= ${at(7)}`
}
const beginMany = statement('idempotency.begin_many', `${heldAnyway} ${takeKeys(2)} returning key`)
const findMany = statement(
  'idempotency.find_many',
  `select key, encode(fingerprint, 'hex') as fingerprint, work, answer from idempotency_keys
    where project_id = $1 and scope = $2 and key = any($3::text[])`
)
const find = statement(
  'idempotency.find',
  `select encode(fingerprint, 'hex') as fingerprint, work, answer, held_until from idempotency_keys
    where project_id = $1 and scope = $2 and key = $3 for update`
)
const resume = statement(
  'idempotency.resume',
  `update idempotency_keys set held_until = $4, work = work || $5 where project_id = $1 and scope = $2 and key = $3`
)
const settle = statement(
  'idempotency.settle',
  `update idempotency_keys set answer = $4 where project_id = $1 and scope = $2 and key = $3`
)
const sweep = statement(
  'idempotency.sweep',
  `delete from idempotency_keys where (project_id, scope, key) in (
     select project_id, scope, key from idempotency_keys where expires_at <= $1 limit 5000)`,
  { acrossProjects: 'keys of all projects end by their time' }
)

/** Stored beside the work: who does it. */
interface Held {
  holder?: number | null
}

interface Row<Work, Answer> {
  fingerprint: string
  work: Work & Held
  answer: Answer | null
  held_until: Date
}

/**
 * Takes the key, or tells what became of it. Call it in the transaction that writes the work, before writing it: of two
 * calls at once the second waits here for the first one's commit. `hours` is how long the key is remembered. With a
 * `presence` the work of a process that died is taken over at once, without it after some seconds.
 */
export async function claimKey<Work, Answer>(
  tx: Db,
  projectId: ProjectId,
  { scope, key, fingerprint }: IdempotencyKey,
  work: Work,
  hours: number,
  presence?: Presence
): Promise<Claim<Work, Answer>> {
  const now = Date.now()
  const held: Held = presence ? { holder: presence.name ?? null } : {}
  const heldUntil = new Date(now + holdMs)
  const begun = await tx.run(begin, [
    projectId,
    scope,
    key,
    fingerprint,
    JSON.stringify({ ...work, ...held }),
    new Date(now),
    heldUntil,
    new Date(now + hours * 3_600_000)
  ])
  if (begun > 0) return { state: 'begun' }
  const row = await tx.one<Row<Work, Answer>>(find, [projectId, scope, key])
  // Swept in between, or the project is going: the caller may ask again.
  if (!row) return { state: 'running' }
  if (row.fingerprint !== fingerprint) return { state: 'other' }
  if (row.answer !== null) return { state: 'answered', answer: row.answer }
  const { holder } = row.work
  const abandoned = presence !== undefined && typeof holder === 'number' && (await presence.isGone(tx, holder))
  if (row.held_until.getTime() > now && !abandoned) return { state: 'running' }
  await tx.run(resume, [projectId, scope, key, heldUntil, JSON.stringify(held)])
  return { state: 'resumed', work: row.work, gone: abandoned }
}

export interface KeyedWork<Work> {
  key: IdempotencyKey
  work: Work
  /** Undefined where it is not known yet. */
  answer?: unknown
}

/**
 * The keys of many calls at once, each key once and all of one scope. Work that outlives its caller by itself: nobody
 * takes a silent one over, so none is answered `resumed`.
 */
export async function claimKeys<Work, Answer>(
  tx: Db,
  projectId: ProjectId,
  wanted: KeyedWork<Work>[],
  hours: number
): Promise<Map<string, Claim<Work, Answer>>> {
  const columns = keyColumns(wanted, hours)
  const begun = await tx.query<{ key: string }>(beginMany, [projectId, ...columns])
  const claims = new Map<string, Claim<Work, Answer>>(begun.map(({ key }) => [key, { state: 'begun' }]))
  const taken = wanted.map(({ key }) => key).filter(({ key }) => !claims.has(key))
  for (const [key, claim] of await findClaims<Work, Answer>(tx, projectId, taken)) claims.set(key, claim)
  return claims
}

/** What is known of keys that others took, all of one scope. */
export async function findClaims<Work, Answer>(
  db: Db,
  projectId: ProjectId,
  taken: IdempotencyKey[]
): Promise<Map<string, Claim<Work, Answer>>> {
  if (taken.length === 0) return new Map()
  const known = await db.query<Row<Work, Answer> & { key: string }>(findMany, [
    projectId,
    taken[0]!.scope,
    taken.map(({ key }) => key)
  ])
  const byKey = new Map(known.map((row) => [row.key, row]))
  return new Map(taken.map(({ key, fingerprint }) => [key, claimOf(byKey.get(key), fingerprint)]))
}

export function keyColumns(wanted: KeyedWork<unknown>[], hours: number): unknown[] {
  const now = Date.now()
  // Every node takes keys in the same order, so that two batches cannot wait for each other.
  const rows = wanted.toSorted((one, two) => (one.key.key < two.key.key ? -1 : 1))
  return [
    wanted[0]?.key.scope,
    JSON.stringify(rows.map(({ key }) => key.key)),
    rows.map(({ key }) => key.fingerprint).join(','),
    asTexts(rows.map(({ work }) => work)),
    asTexts(rows.map(({ answer }) => answer)),
    new Date(now + holdMs),
    new Date(now + hours * 3_600_000),
    new Date(now)
  ]
}

function claimOf<Work, Answer>(row: Row<Work, Answer> | undefined, fingerprint: string): Claim<Work, Answer> {
  if (!row) return { state: 'running' }
  if (row.fingerprint !== fingerprint) return { state: 'other' }
  return row.answer === null ? { state: 'running', work: row.work } : { state: 'answered', answer: row.answer }
}

/** Stores the answer that every repeat will get. In the transaction that ends the work, where there is one. */
export const settleKey = (db: Db, projectId: ProjectId, { scope, key }: IdempotencyKey, answer: unknown) =>
  db.run(settle, [projectId, scope, key, JSON.stringify(answer)])

/** Up to a window of keys whose time is over. */
export const sweepKeys = (db: Db, now: Date): Promise<number> => db.run(sweep, [now])

const erase = statement(
  'idempotency.erase_window',
  `delete from idempotency_keys where project_id = $1 and (scope, key) in (
     select scope, key from idempotency_keys where project_id = $1 limit 5000)`
)

/** Up to a window of keys of a project that is being erased. */
export const eraseKeyWindow = (db: Db, projectId: ProjectId): Promise<number> => db.run(erase, [projectId])
