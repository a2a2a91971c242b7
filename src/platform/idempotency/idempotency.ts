import type { Db } from '../db/db.ts'
import type { Presence } from '../db/presence.ts'
import type { ProjectId } from '../ids.ts'
import type { Holder, IdempotencyKey, KeyedWork, KeyRow } from './store.ts'
import * as store from './store.ts'

export {
  claimRows,
  eraseKeyWindow,
  type IdempotencyKey,
  type KeyedWork,
  keyColumns,
  settleKey,
  sweepKeys
} from './store.ts'

/** The state of a key. */
export type Claim<Work, Answer> =
  /** The key is ours: its row exists in this transaction, with the given work. */
  | { state: 'begun' }
  /**
   * Another process began the work and died (`gone`: the database knows) or was silent for some seconds. The key is
   * ours now: continue that work.
   */
  | { state: 'resumed'; work: Work; gone: boolean }
  | { state: 'answered'; answer: Answer }
  /** As far as the key shows, the first call still runs. */
  | { state: 'running'; work?: Work }
  /** The key was used with another body. */
  | { state: 'other' }

/**
 * Claims the key, or returns its state. Call it in the transaction that writes the work, before writing it: of two
 * simultaneous calls, the second waits here for the commit of the first. `hours` is how long the key is remembered.
 * With a `presence` the work of a dead process is resumed at once, without one after some seconds.
 */
export async function claimKey<Work, Answer>(
  tx: Db,
  projectId: ProjectId,
  key: IdempotencyKey,
  work: Work,
  hours: number,
  presence?: Presence
): Promise<Claim<Work, Answer>> {
  const now = Date.now()
  const own: Holder = presence ? { holder: presence.name ?? null } : {}
  const heldUntil = new Date(now + store.holdMs)
  const times = { now: new Date(now), heldUntil, expiresAt: new Date(now + hours * 3_600_000) }
  if (await store.beginKey(tx, projectId, key, { ...work, ...own }, times)) return { state: 'begun' }
  const row = await store.findKey<Work, Answer>(tx, projectId, key)
  const claim = claimOf(row, key.fingerprint)
  if (!row || claim.state !== 'running') return claim
  const { holder } = row.work
  const gone = presence !== undefined && typeof holder === 'number' && (await presence.isGone(tx, holder))
  if (row.held_until.getTime() > now && !gone) return { state: 'running' }
  await store.resumeKey(tx, projectId, key, heldUntil, own)
  return { state: 'resumed', work: row.work, gone }
}

/**
 * Claims the keys of many calls, each key once and all of one scope. For work that continues without its caller: none
 * is resumed, so no claim has that state.
 */
export async function claimKeys<Work, Answer>(
  tx: Db,
  projectId: ProjectId,
  wanted: KeyedWork<Work>[],
  hours: number
): Promise<Map<string, Claim<Work, Answer>>> {
  const begun = await store.beginKeys(tx, projectId, wanted, hours)
  const claims = new Map<string, Claim<Work, Answer>>(begun.map((key) => [key, { state: 'begun' }]))
  const taken = wanted.map(({ key }) => key).filter(({ key }) => !claims.has(key))
  for (const [key, claim] of await findClaims<Work, Answer>(tx, projectId, taken)) claims.set(key, claim)
  return claims
}

/** The states of keys that other calls claimed, all of one scope. */
export async function findClaims<Work, Answer>(
  db: Db,
  projectId: ProjectId,
  taken: IdempotencyKey[]
): Promise<Map<string, Claim<Work, Answer>>> {
  const [first] = taken
  if (!first) return new Map()
  const keys = taken.map(({ key }) => key)
  const known = await store.findKeys<Work, Answer>(db, projectId, first.scope, keys)
  const byKey = new Map(known.map((row) => [row.key, row]))
  return new Map(taken.map(({ key, fingerprint }) => [key, claimOf(byKey.get(key), fingerprint)]))
}

function claimOf<Work, Answer>(row: KeyRow<Work, Answer> | undefined, fingerprint: string): Claim<Work, Answer> {
  // The key was deleted in between, or its project is being erased: the caller may ask again.
  if (!row) return { state: 'running' }
  if (row.fingerprint !== fingerprint) return { state: 'other' }
  return row.answer === null ? { state: 'running', work: row.work } : { state: 'answered', answer: row.answer }
}
