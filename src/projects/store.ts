import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { keepNames } from './audit/name-store.ts'
import { bootstrapName, type KeyKind, type Role } from './keys.ts'
import type { Policy } from './policy.ts'
import type { Limits, ProjectRow, Retention } from './project.ts'

const written = 'project_id, name, mode, plan, limits, retention, created_at'
const columns = `${written}, paused_at, message_limits, quiet_hours, identity_verification, intake`

const insert = statement(
  'projects.insert',
  `insert into projects (${written}) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`
)
const find = statement('projects.find', `select ${columns} from projects where project_id = $1 and deleted_at is null`)
const findMany = statement(
  'projects.find_many',
  `select ${columns} from projects where project_id = any($1::text[]) and deleted_at is null`,
  { acrossProjects: 'the projects of keys that callers showed at the same time' }
)
const change = statement(
  'projects.change',
  `update projects set name = coalesce($2, name), mode = coalesce($3, mode), plan = coalesce($4, plan),
          limits = jsonb_strip_nulls(limits || $5), retention = jsonb_strip_nulls(retention || $6),
          message_limits = case when $7 then $8::jsonb else message_limits end,
          quiet_hours = case when $9 then $10::jsonb else quiet_hours end,
          identity_verification = coalesce($11, identity_verification), intake = coalesce($12, intake)
    where project_id = $1 and deleted_at is null
   returning ${columns}`
)
const pause = statement(
  'projects.pause',
  `update projects set paused_at = $2
    where project_id = $1 and deleted_at is null and (paused_at is null or paused_at = $3)
   returning ${columns}`
)
const resume = statement(
  'projects.resume',
  `update projects set paused_at = null where project_id = $1 and deleted_at is null and paused_at is not null
   returning ${columns}`
)
const pauseRunning = statement(
  'projects.pause_running',
  'update projects set paused_at = $1 where deleted_at is null and paused_at is null',
  { acrossProjects: 'a restored installation sends nothing for any project' }
)
const pausedAtTime = statement(
  'projects.paused_at_time',
  'select project_id from projects where deleted_at is null and paused_at = $1 order by project_id limit $2',
  { acrossProjects: 'resuming an installation resumes every project that its restore paused' }
)
const list = statement(
  'projects.list',
  `select ${columns} from projects
    where deleted_at is null and ($1::text[] is null or project_id = any($1::text[]))
      and ($2::timestamptz is null or (created_at, project_id) < ($2, $3::text))
    order by created_at desc, project_id desc limit $4`,
  { acrossProjects: 'the list of projects an administrator sees' }
)
const mark = statement(
  'projects.mark_deleted',
  'update projects set deleted_at = $2 where project_id = $1 and deleted_at is null'
)
const deleted = 'select 1 from projects where project_id = $1 and deleted_at is not null'
const findDeleted = statement('projects.find_deleted', deleted)
const hold = statement('projects.hold_deleted', `${deleted} for key share`)
const lock = statement('projects.lock_deleted', `${deleted} for update`)
const erase = statement('projects.erase', 'delete from projects where project_id = $1 and deleted_at is not null')

const ids = statement('projects.ids', 'select project_id, retention from projects order by project_id', {
  acrossProjects: 'sweeps visit every project'
})

export const listProjectIds = (db: Db) => db.query<Pick<ProjectRow, 'project_id' | 'retention'>>(ids)

export async function insertProject(
  db: Db,
  row: Omit<ProjectRow, 'paused_at' | 'message_limits' | 'quiet_hours' | 'identity_verification' | 'intake'>
): Promise<boolean> {
  const { project_id, name, mode, plan, limits, retention, created_at } = row
  return (await db.run(insert, [project_id, name, mode, plan, limits, retention, created_at])) > 0
}

export const findProjects = (db: Db, projectIds: ProjectId[]) => db.query<ProjectRow>(findMany, [projectIds])

export const findProject = (db: Db, projectId: ProjectId) => db.one<ProjectRow>(find, [projectId])

type OrDefault<Fields> = { [Name in keyof Fields]?: Fields[Name] | null }
/** A null limit or retention means the value of the plan or the default. */
export type ProjectChanges = Partial<Pick<ProjectRow, 'name' | 'mode' | 'plan' | 'message_limits' | 'quiet_hours'>> & {
  identity_verification?: boolean
  intake?: boolean
  limits?: OrDefault<Limits>
  retention?: OrDefault<Retention>
}

export const changeProject = (db: Db, projectId: ProjectId, changes: ProjectChanges) =>
  db.one<ProjectRow>(change, [
    projectId,
    changes.name ?? null,
    changes.mode ?? null,
    changes.plan ?? null,
    changes.limits ?? {},
    changes.retention ?? {},
    changes.message_limits !== undefined,
    changes.message_limits?.length ? JSON.stringify(changes.message_limits) : null,
    changes.quiet_hours !== undefined,
    changes.quiet_hours ?? null,
    changes.identity_verification ?? null,
    changes.intake ?? null
  ])

/** Returns nothing if the project does not exist or is paused already, unless by the restore of that time. */
export const pauseProject = (db: Db, projectId: ProjectId, at: Date, restoredAt: Date | null = null) =>
  db.one<ProjectRow>(pause, [projectId, at, restoredAt])

/** Returns nothing if the project is not paused or does not exist. */
export const resumeProject = (db: Db, projectId: ProjectId) => db.one<ProjectRow>(resume, [projectId])

/** Pauses every project that runs, at one time by which they are found again. */
export const pauseRunningProjects = (db: Db, at: Date) => db.run(pauseRunning, [at])

export const listPausedAt = (db: Db, at: Date, limit: number) =>
  db.query<Pick<ProjectRow, 'project_id'>>(pausedAtTime, [at, limit])

/** Newest first. `only` narrows it to the projects that a caller may see. */
export const listProjects = (db: Db, only: ProjectId[] | null, after: [Date, string] | undefined, limit: number) =>
  db.query<ProjectRow>(list, [only, after?.[0] ?? null, after?.[1] ?? null, limit])

export const markProjectDeleted = async (db: Db, projectId: ProjectId, at: Date) =>
  (await db.run(mark, [projectId, at])) > 0

/** Whether the project is to be erased. */
export const isDeleted = async (db: Db, projectId: ProjectId) => (await db.one(findDeleted, [projectId])) !== undefined

/** Whether the project is to be erased; this cannot change until the end of the transaction. */
export const holdDeleted = async (db: Db, projectId: ProjectId) => (await db.one(hold, [projectId])) !== undefined

/** The same, and blocks all writes for the project until the end of the transaction. */
export const lockDeleted = async (db: Db, projectId: ProjectId) => (await db.one(lock, [projectId])) !== undefined

/** The last step of an erasure: a cascade deletes the rows that are left. */
export const eraseProject = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])

export interface KeyRow {
  id: string
  project_id: ProjectId
  kind: KeyKind
  name: string
  prefix: string
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  policy: Policy | null
  /** The first key of its chain of rotations; null: the key itself. */
  origin_id: string | null
}

/** A key that was just looked up, with its remaining time: by the database's clock, which all nodes share. */
export type FoundKey = KeyRow & { hash: Buffer; left_ms: number | null }

const keyColumns = 'id, project_id, kind, name, prefix, created_at, last_used_at, expires_at, policy, origin_id'

const insertKeyRow = statement(
  'keys.insert',
  `insert into api_keys (hash, id, project_id, kind, name, prefix, created_at, expires_at, policy, origin_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`
)
const leftMs = 'extract(epoch from expires_at - clock_timestamp())::float8 * 1000 as left_ms'
const keysByHash = statement(
  'keys.by_hash',
  `select hash, ${keyColumns}, ${leftMs} from api_keys where hash = any($1::bytea[])`
)
const keysOf = statement(
  'keys.list',
  `select ${keyColumns} from api_keys where project_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`
)
const lockChain = statement(
  'keys.lock_chain',
  `select ${keyColumns}, ${leftMs} from api_keys
    where project_id = $1 and coalesce(origin_id, id) =
          (select coalesce(origin_id, id) from api_keys where project_id = $1 and id = $2)
    order by id for update`
)
const liveOfChain = statement(
  'keys.live_of_chain',
  `select ${keyColumns} from api_keys
    where project_id = $1 and coalesce(origin_id, id) = $2 and (expires_at is null or expires_at > now())
    order by id desc limit 1`
)
const liveKey = statement(
  'keys.live',
  `select ${keyColumns} from api_keys
    where project_id = $1 and id = $2 and kind = 'secret' and (expires_at is null or expires_at > now())`
)
// An earlier end is kept.
const expireKeyRow = statement(
  'keys.expire',
  `update api_keys
      set expires_at = least(expires_at, clock_timestamp() + $3::float8 * interval '1 millisecond')
    where project_id = $1 and id = $2 returning expires_at`
)
const setPolicy = statement(
  'keys.policy',
  'update api_keys set policy = $3 where project_id = $1 and coalesce(origin_id, id) = $2'
)
// A bootstrap key is kept: the next start would not find it, and would add it again without an end.
const sweepKeyRows = statement(
  'keys.sweep',
  `with gone as (
     delete from api_keys where project_id = $1 and expires_at < $2 and name <> $3 returning id, project_id, name)
   ${keepNames('key', '$4')}`
)
const deleteKeyRow = statement(
  'keys.delete',
  `with gone as (delete from api_keys where project_id = $1 and id = $2 returning id, project_id, name)
   ${keepNames('key', '$3')}`
)
const deleteKeysOf = statement('keys.delete_all', 'delete from api_keys where project_id = $1')
const useKeys = statement('keys.used', 'update api_keys set last_used_at = $2 where id = any($1::uuid[])')

export const insertKey = async (db: Db, hash: Buffer, key: Omit<KeyRow, 'last_used_at'>) =>
  (await db.run(insertKeyRow, [
    hash,
    key.id,
    key.project_id,
    key.kind,
    key.name,
    key.prefix,
    key.created_at,
    key.expires_at,
    key.policy,
    key.origin_id
  ])) > 0

export const findKeys = (db: Db, hashes: Buffer[]) => db.query<FoundKey>(keysByHash, [hashes])

/**
 * Locks all keys of its chain until the transaction ends: two rotations of a key follow one another, and a change of
 * the policy misses no key that a rotation adds.
 */
export const lockKey = async (db: Db, projectId: ProjectId, id: string) =>
  (await db.query<Omit<FoundKey, 'hash'>>(lockChain, [projectId, id])).find((key) => key.id === id)

/** The newest key of a chain of rotations that still works. */
export const findLiveKey = (db: Db, projectId: ProjectId, originId: string) =>
  db.one<KeyRow>(liveOfChain, [projectId, originId])

/** A secret key that works now. */
export const findSecretKey = (db: Db, projectId: ProjectId, id: string) => db.one<KeyRow>(liveKey, [projectId, id])

/** Returns the end of the key. */
export const expireKey = async (db: Db, projectId: ProjectId, id: string, inMs: number): Promise<Date> =>
  (await db.one<{ expires_at: Date }>(expireKeyRow, [projectId, id, inMs]))!.expires_at

/** For all keys of a chain of rotations. */
export const setChainPolicy = (db: Db, projectId: ProjectId, originId: string, policy: Policy | null) =>
  db.run(setPolicy, [projectId, originId, policy])

export const sweepExpiredKeys = (db: Db, projectId: ProjectId, before: Date) =>
  db.run(sweepKeyRows, [projectId, before, bootstrapName, new Date()])

export const listKeys = (db: Db, projectId: ProjectId, before: string | null, limit: number) =>
  db.query<KeyRow>(keysOf, [projectId, before, limit])

export const deleteKey = async (db: Db, projectId: ProjectId, id: string) =>
  (await db.run(deleteKeyRow, [projectId, id, new Date()])) > 0

export const deleteKeys = (db: Db, projectId: ProjectId) => db.run(deleteKeysOf, [projectId])

export const markKeysUsed = (db: Db, ids: string[], at: Date) => db.run(useKeys, [ids, at])

export interface TokenRow {
  id: string
  project_id: ProjectId | null
  role: Role
  name: string
  prefix: string
  created_at: Date
  last_used_at: Date | null
}

const tokenColumns = 'id, project_id, role, name, prefix, created_at, last_used_at'

const insertTokenRow = statement(
  'tokens.insert',
  `insert into tokens (hash, id, project_id, role, name, prefix, created_at)
   values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`
)
const tokensByHash = statement(
  'tokens.by_hash',
  `select hash, ${tokenColumns} from tokens where hash = any($1::bytea[])`
)
const tokensOf = statement(
  'tokens.list',
  `select ${tokenColumns} from tokens
    where ($1::text[] is null or project_id = any($1::text[])) and ($2::uuid is null or id < $2)
    order by id desc limit $3`
)
const deleteTokenRow = statement(
  'tokens.delete',
  `with gone as (
     delete from tokens where id = $1 and ($2::text[] is null or project_id = any($2::text[])) returning id, project_id, name, role),
   kept as (${keepNames('token', '$3')})
   select project_id, name from gone`
)
const deleteTokensOf = statement('tokens.delete_all', 'delete from tokens where project_id = $1')
const useTokens = statement('tokens.used', 'update tokens set last_used_at = $2 where id = any($1::uuid[])')

export const insertToken = async (db: Db, hash: Buffer, token: Omit<TokenRow, 'last_used_at'>) =>
  (await db.run(insertTokenRow, [
    hash,
    token.id,
    token.project_id,
    token.role,
    token.name,
    token.prefix,
    token.created_at
  ])) > 0

export const findTokens = (db: Db, hashes: Buffer[]) => db.query<TokenRow & { hash: Buffer }>(tokensByHash, [hashes])

/** `only`: the projects whose tokens the caller may see; null: all. */
export const listTokens = (db: Db, only: ProjectId[] | null, before: string | null, limit: number) =>
  db.query<TokenRow>(tokensOf, [only, before, limit])

/** Returns the deleted token; undefined if the caller can reach no such token. */
export const deleteToken = (db: Db, only: ProjectId[] | null, id: string) =>
  db.one<Pick<TokenRow, 'project_id' | 'name'>>(deleteTokenRow, [id, only, new Date()])

const adminToken = statement(
  'tokens.any_admin',
  `select 1 from tokens where project_id is null and role = 'admin' limit 1`
)

/** Whether a token is admin of the whole installation. */
export const hasAdminToken = async (db: Db) => (await db.one(adminToken)) !== undefined

export const deleteTokens = (db: Db, projectId: ProjectId) => db.run(deleteTokensOf, [projectId])

export const markTokensUsed = (db: Db, ids: string[], at: Date) => db.run(useTokens, [ids, at])

const renewWanted = statement(
  'projects.renew_wanted_events',
  'update projects set wanted_events_version = wanted_events_version + 1 where project_id = $1'
)

/** Makes nodes read the names of events that campaigns react to again. */
export const renewWantedEvents = (tx: Db, projectId: ProjectId) => tx.run(renewWanted, [projectId])
