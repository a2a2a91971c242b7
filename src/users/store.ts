import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { asTexts, heldProject, lockedProject, type Statement, statement, texts } from '../platform/db/statement.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { indexUsers, unindexUsers } from './index-store.ts'
import type { Properties } from './properties.ts'

export interface StoredUser {
  id: string
  projectUserId: string
  properties: Properties
  createdAt: Date
  updatedAt: Date
}

export interface Change {
  projectUserId: string
  properties: Properties
}

/**
 * Whether the merged properties are within the limits of size and number. PostgreSQL's text form of JSON has a blank
 * after each colon and comma, so it is 2n - 1 bytes longer than the compact form. A property takes at least 7 bytes
 * there. Below 7,000 bytes neither limit can be reached, so the properties of most rows need not be counted.
 */
export const fits = (merged: string) => `(
     octet_length((${merged})::text) < 7000
     or (octet_length((${merged})::text) - 2 * jsonb_array_length(jsonb_path_query_array(${merged}, '$.keyvalue()')) + 1 <= 65536
         and jsonb_array_length(jsonb_path_query_array(${merged}, '$.keyvalue()')) <= 1000))`

// Writes users of one project, whose row is joined: such a statement stays on one shard, and an unknown project gives
// no rows. Ids of users contain no control characters, so one of these separates them in a parameter.
const put = (
  source: string,
  at: string
) => `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
   select u.project_id, u.id, u.key, u.properties, ${at}, ${at} from ${source} as u
   on conflict (project_id, project_user_id) do update`
const merged = 'users.properties || excluded.properties'
const given = `(select project_id, id, key, properties
       from project cross join unnest($2::uuid[], ${texts('$4')}, ${texts('$5')}::jsonb[])
         as g(id, key, properties))`
// Most projects index no property. Their users are written without a `with`, so that Citus sends the statement to one
// shard as a whole, which makes it 2.5 times as fast there. It writes nothing in a project that has indexed properties.
const upsert = statement(
  'users.upsert',
  `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
   select p.project_id, g.id, g.key, g.properties, $3, $3
     from ${lockedProject} p cross join unnest($2::uuid[], ${texts('$4')}, ${texts('$5')}::jsonb[])
       as g(id, key, properties)
    where not exists (select 1 from indexed_properties i where i.project_id = $1 and i.state <> 'removing')
   on conflict (project_id, project_user_id) do update
      set properties = ${merged}, updated_at = excluded.updated_at
    where ${fits(merged)}
   returning id, project_user_id, properties`
)
const upsertIndexed = statement(
  'users.upsert_indexed',
  `${heldProject},
   put as (${put(given, '$3')}
      set properties = ${merged}, updated_at = excluded.updated_at
    where ${fits(merged)}
   returning id, project_user_id, properties),
   indexed as (${indexUsers('put')})
   select id, project_user_id, properties from put`
)

/**
 * Saves users for a statement of another capability, as `put` with the id and project_user_id of each: `source` has
 * project_id, id, key and properties of each, in the order of their keys. No user is without properties, so a user that
 * would exceed the limits makes the whole statement fail.
 */
export const putUsers = (source: string, at: string): string => `put as (${put(source, at)}
      set properties = case when ${fits(merged)} then ${merged} end, updated_at = excluded.updated_at
   returning id, project_user_id, properties),
   indexed as (${indexUsers('put')})`

const merge = statement(
  'users.merge',
  `with changed as (update users
      set properties = users.properties || u.properties, updated_at = $3
     from unnest(${texts('$2')}, ${texts('$4')}::jsonb[]) as u(key, properties)
    where users.project_id = $1 and users.project_user_id = u.key
      and ${fits('users.properties || u.properties')}
   returning users.id, users.project_user_id, users.properties),
   indexed as (${indexUsers('changed')})
   select project_user_id, properties from changed`
)

const drop = statement(
  'users.drop_named_properties',
  `with changed as (update users set properties = properties - $3::text[], updated_at = $4
    where project_id = $1 and project_user_id = $2 returning id, properties),
   unindexed as (${unindexUsers('changed', '$3::text[]')})
   select properties from changed`
)

/** Returns the remaining properties; undefined if the user does not exist. */
export const dropUserProperties = async (
  db: Db,
  projectId: ProjectId,
  projectUserId: string,
  names: string[],
  at: Date
): Promise<Properties | undefined> =>
  (await db.one<{ properties: Properties }>(drop, [projectId, projectUserId, names, at]))?.properties

const find = statement(
  'users.find',
  `select id, project_user_id, properties, created_at, updated_at from users
    where project_id = $1 and project_user_id = any($2::text[])`
)

// The cascade deletes devices, tokens and events in the same transaction.
const remove = statement('users.delete', 'delete from users where project_id = $1 and id = any($2::uuid[])')
const lockRows = statement(
  'users.lock',
  'select id from users where project_id = $1 and id = any($2::uuid[]) order by id for update'
)
const idsOf = statement(
  'users.ids',
  'select id from users where project_id = $1 and project_user_id = any($2::text[]) order by id'
)

const eraseWindow = statement(
  'users.erase_window',
  `delete from users where project_id = $1 and id in (
     select id from users where project_id = $1 order by id limit 5000)`
)

/** Deletes one batch of users of a project that is being erased. */
export const eraseUserWindow = (db: Db, projectId: ProjectId) => db.run(eraseWindow, [projectId])

const exists = statement('users.project_exists', 'select 1 from projects where project_id = $1 and deleted_at is null')

export const projectExists = async (db: Db, projectId: ProjectId) => (await db.one(exists, [projectId])) !== undefined

interface Merged {
  project_user_id: string
  properties: Properties
}

/** A user after a write. */
export interface PutUser {
  id: string
  properties: Properties
}

const byKey = (rows: Merged[]) => new Map(rows.map((row) => [row.project_user_id, row.properties]))
/** Every node locks rows in the same order, so that two statements cannot wait for each other. */
const sorted = (changes: Change[]) => changes.toSorted((a, b) => (a.projectUserId < b.projectUserId ? -1 : 1))
const keysOf = (changes: Change[]) => changes.map(({ projectUserId }) => projectUserId).join('\x1e')
const propertiesOf = (changes: Change[]) => asTexts(changes.map(({ properties }) => properties))

/** Projects that had indexed properties when this process last wrote users: for these the first statement is left out. */
const indexing = new Set<ProjectId>()
const mostRemembered = 10_000

/** Creates or merges users. A user that would exceed the limits stays unchanged and is not in the result. */
export async function upsertUsers(db: Db, projectId: ProjectId, changes: Change[], at: Date) {
  const rows = sorted(changes)
  const ids = rows.map(() => newId())
  const values = [projectId, ids, at, keysOf(rows), propertiesOf(rows)]
  const write = (text: Statement) => db.query<Merged & PutUser>(text, values)
  const plain = indexing.has(projectId) ? [] : await write(upsert)
  // No row: the project has indexed properties, is unknown, or no user was within the limits.
  const users = plain.length > 0 ? plain : await write(upsertIndexed)
  if (plain.length === 0 && users.length > 0) {
    if (indexing.size >= mostRemembered) indexing.clear()
    indexing.add(projectId)
  }
  return new Map<string, PutUser>(
    users.map(({ id, project_user_id, properties }) => [project_user_id, { id, properties }])
  )
}

export interface DrawnUser {
  /** The id that the user gets if it is new. */
  drawn: string
  projectUserId: string
  /** Serialized before other writes wait for it. */
  properties: string
}

/** Merges into existing users in the database, so that two simultaneous updates cannot lose each other's keys. */
export async function mergeUsers(db: Db, projectId: ProjectId, changes: Change[], at: Date) {
  const rows = sorted(changes)
  return byKey(await db.query<Merged>(merge, [projectId, keysOf(rows), at, propertiesOf(rows)]))
}

export async function findUsers(db: Db, projectId: ProjectId, projectUserIds: string[]): Promise<StoredUser[]> {
  return (await db.query<UserRow>(find, [projectId, projectUserIds])).map(toUser)
}

/** Locks these users: until the end of the transaction nothing new can be written for them. */
export const lock = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.query<{ id: string }>(lockRows, [projectId, ids])

/** Receives the users that are about to be deleted, in the transaction that deletes them. */
export type BeforeRemoval = (tx: Db, projectId: ProjectId, userIds: string[]) => Promise<unknown>

/** Locks devices before their users, as every writer for a user does. */
export async function deleteUsers(pool: Pool, projectId: ProjectId, projectUserIds: string[], before: BeforeRemoval) {
  await againIfRaced(() =>
    pool.transaction(async (tx) => {
      const users = await tx.query<{ id: string }>(idsOf, [projectId, projectUserIds])
      if (users.length === 0) return
      const ids = users.map(({ id }) => id)
      await before(tx, projectId, ids)
      // Locks users by id, as events do: a deletion alone would lock them in the order in which it finds them.
      await lock(tx, projectId, ids)
      await tx.run(remove, [projectId, ids])
    })
  )
}

export interface UserRow {
  id: string
  project_user_id: string
  properties: Properties
  created_at: Date
  updated_at: Date
}

export const toUser = (row: UserRow): StoredUser => ({
  id: row.id,
  projectUserId: row.project_user_id,
  properties: row.properties,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})
