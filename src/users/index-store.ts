import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

export interface IndexedProperty {
  id: string
  name: string
  state: 'building' | 'ready' | 'removing'
  /** The index names exactly the users that have a value. */
  exact: boolean
  last_user_id: string | null
  visited: number
  created_at: Date
}

/** The indexed form of a property's value. Long values would not fit into an index. */
export const indexedValue = (json: string) => `substring(sha256(convert_to((${json})::text, 'UTF8')) for 16)`

/**
 * Writes the indexed values of users whom the same statement has changed; `source` has their ids and new properties.
 * Two statements that change one user do so one after the other, so the later value stays. For a project without
 * indexed properties there is nothing to write.
 */
export const indexUsers = (source: string) => `insert into indexed_values (project_id, user_id, property_id, value)
     select $1, c.id, i.id, ${indexedValue('c.properties -> i.name')}
       from indexed_properties i cross join ${source} c
      where i.project_id = $1 and i.state <> 'removing' and c.properties ? i.name
     on conflict (project_id, user_id, property_id) do update set value = excluded.value
      where indexed_values.value <> excluded.value`

/**
 * Forgets the indexed values of removed properties; `source` has the users' ids, `names` the properties. A row without a value
 * stays: a deletion would miss the row of a statement that is not in its snapshot, and the value would outlive the property.
 */
export const unindexUsers = (
  source: string,
  names: string
) => `insert into indexed_values (project_id, user_id, property_id, value)
     select $1, c.id, i.id, '' from indexed_properties i cross join ${source} c
      where i.project_id = $1 and i.state <> 'removing' and i.name = any(${names})
     on conflict (project_id, user_id, property_id) do update set value = excluded.value
      where indexed_values.value <> excluded.value`

const columns = 'id, name, state, exact, last_user_id, visited::float8 as visited, created_at'
const list = statement(
  'users.indexed_properties',
  `select ${columns} from indexed_properties where project_id = $1 and state <> 'removing' order by name`
)
const find = statement(
  'users.indexed_property',
  `select ${columns} from indexed_properties where project_id = $1 and id = $2`
)
const lock = statement(
  'users.lock_indexed_properties',
  'select project_id from projects where project_id = $1 and deleted_at is null for no key update'
)
const insert = statement(
  'users.insert_indexed_property',
  `insert into indexed_properties (project_id, id, name, state, exact, visited, created_at)
   values ($1, $2, $3, 'building', true, 0, $4)`
)
const retire = statement(
  'users.retire_indexed_property',
  `update indexed_properties set state = 'removing' where project_id = $1 and name = $2 and state <> 'removing' returning id`
)
const remove = statement(
  'users.remove_indexed_property',
  `delete from indexed_properties where project_id = $1 and id = $2 and state = 'removing'`
)
const removeValueRows = statement(
  'users.remove_indexed_values',
  `delete from indexed_values where project_id = $1 and property_id = $2 and user_id = any(array(
     select user_id from indexed_values where project_id = $1 and property_id = $2 limit 5000))`
)
// An existing value is never older: the statement that wrote it changed the user after the index was chosen.
const build = statement(
  'users.build_indexed_values',
  `with w as materialized (
     select id, properties from users
      where project_id = $1 and id > $4 order by id limit $5),
   written as (
     insert into indexed_values (project_id, user_id, property_id, value)
     select $1, w.id, $2, ${indexedValue('w.properties -> $3::text')} from w where w.properties ? $3::text
     on conflict (project_id, user_id, property_id) do nothing)
   select (select w.id from w order by w.id desc limit 1) as last, (select count(*)::int from w) as seen`
)
const advance = statement(
  'users.advance_indexed_property',
  `update indexed_properties
      set visited = visited + $4, last_user_id = $3, state = case when $5 then 'ready' else state end
    where project_id = $1 and id = $2 and state = 'building'`
)
const begunBefore = statement(
  'users.newest_transaction',
  'select pg_snapshot_xmax(pg_current_snapshot())::text as id, clock_timestamp()::text as at'
)
// A transaction that writes on workers of Citus only has no id at the coordinator, so there its session counts ($3).
const allEnded = statement(
  'users.transactions_ended',
  `select pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8
          and not exists (select from pg_stat_activity
                           where $3::boolean and datname = current_database() and xact_start < $2::text::timestamptz) as ended`
)

export const indexedProperties = (db: Db, projectId: ProjectId) => db.query<IndexedProperty>(list, [projectId])

export const findIndexedProperty = (db: Db, projectId: ProjectId, id: string) =>
  db.one<IndexedProperty>(find, [projectId, id])

/** Changes of the list wait for each other. False if the project is being erased. */
export const lockIndexedProperties = async (tx: Db, projectId: ProjectId) =>
  (await tx.one(lock, [projectId])) !== undefined

export const insertIndexedProperty = (
  tx: Db,
  projectId: ProjectId,
  { id, name, at }: { id: string; name: string; at: Date }
) => tx.run(insert, [projectId, id, name, at])

/** Returns the id of a property that was indexed, and is no longer used from now on. */
export const retireIndexedProperty = async (tx: Db, projectId: ProjectId, name: string) =>
  (await tx.one<{ id: string }>(retire, [projectId, name]))?.id

export const removeIndexedProperty = (db: Db, projectId: ProjectId, id: string) => db.run(remove, [projectId, id])

/** Deletes a batch of values; returns how many. */
export const removeIndexedValues = (db: Db, projectId: ProjectId, id: string) =>
  db.run(removeValueRows, [projectId, id])

/** Writes the values of the next batch of users. */
export const buildIndexedValues = async (
  tx: Db,
  projectId: ProjectId,
  { id, name, after, size }: { id: string; name: string; after: string; size: number }
) => (await tx.one<{ last: string | null; seen: number }>(build, [projectId, id, name, after, size]))!

/** False if the property was removed meanwhile. */
export const advanceIndexedProperty = async (
  tx: Db,
  projectId: ProjectId,
  { id, last, seen, ready }: { id: string; last: string; seen: number; ready: boolean }
) => (await tx.run(advance, [projectId, id, last, seen, ready])) > 0

interface Moment {
  /** Transactions that write now have ids before this one. */
  id: string
  at: string
}

export const nextTransaction = async (db: Db): Promise<Moment> => (await db.one<Moment>(begunBefore))!

export const endedBefore = async (db: Db, { id, at }: Moment, isDistributed: boolean): Promise<boolean> =>
  (await db.one<{ ended: boolean }>(allEnded, [id, at, isDistributed]))!.ended
