import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** What a sample shows about one property. */
export interface PropertyRow {
  name: string
  types: string[]
  /** How many of the sample have it. */
  count: number
  examples: unknown[]
}

export interface SampleRow {
  sampled: number
  items: PropertyRow[]
}

// Long values are counted, but neither compared nor shown.
const summary = `
  each_value as (
    select p.key as name, jsonb_typeof(p.value) as type, case when pg_column_size(p.value) <= 200 then p.value end as value,
           count(*)::int as count
      from sample, jsonb_each(sample.properties) p group by 1, 2, 3),
  ranked as (
    select *, row_number() over (partition by name order by value is null, count desc, value) as place from each_value),
  items as (
    select name, array_agg(distinct type) as types, sum(count)::int as count,
           coalesce(json_agg(value order by place) filter (where place <= 10 and value is not null), '[]') as examples
      from ranked group by name order by sum(count) desc, name limit 500)
  select (select count(*)::int from sample) as sampled,
         (select coalesce(json_agg(items order by items.count desc, items.name), '[]') from items) as items`

const userRange = statement(
  'catalog.user_range',
  `select (select count(*)::int from (select 1 from users where project_id = $1 limit $2) found) as known,
          (select id from users where project_id = $1 order by id limit 1) as first,
          (select id from users where project_id = $1 order by id desc limit 1) as last`
)
// Reads some users after each start, by key: the ids of users are in the order of time.
const userSample = statement(
  'catalog.user_sample',
  `with sample as materialized (
     select distinct on (u.id) u.id, u.properties
       from unnest($2::uuid[], $3::int[]) as p(start, size)
      cross join lateral (select id, properties from users where project_id = $1 and id >= p.start
                           order by id limit p.size) u), ${summary}`
)
const deviceSample = statement(
  'catalog.device_sample',
  `with newest as materialized (
     select platform, facts from devices where project_id = $1 order by created_at desc, id desc limit $2),
   sample as (
     select jsonb_strip_nulls(jsonb_build_object('platform', platform, 'app_version', facts -> 'app_version',
              'os_version', facts -> 'os_version', 'locale', facts -> 'locale_region',
              'language', facts -> 'locale_language', 'timezone', facts -> 'timezone')) as properties
       from newest), ${summary}`
)
const events = `
   events_read as materialized (
     select distinct on (e.at, e.id) e.name, e.properties
       from unnest($2::timestamptz[], $3::int[]) as p(until, size)
      cross join lateral (select at, id, name, properties from events where project_id = $1 and at <= p.until
                           order by at desc, id desc limit p.size) e)`
const eventSample = statement(
  'catalog.event_sample',
  `with ${events}, sample as (select properties from events_read where name = $4), ${summary}`
)
const eventNames = statement(
  'catalog.event_names',
  `with ${events}
   select (select count(*)::int from events_read) as sampled,
          (select coalesce(json_agg(n order by n.count desc, n.name), '[]') from (
             select name, count(*)::int as count from events_read group by name
              order by count(*) desc, name limit 500) n) as items`
)

/** The first and the last user, and how many there are, counted up to a limit. */
export const usersKnown = async (db: Db, projectId: ProjectId, limit: number) =>
  (await db.one<{ known: number; first: string | null; last: string | null }>(userRange, [projectId, limit]))!

/** The properties of some users after each start. */
export const sampleUsers = async (db: Db, projectId: ProjectId, starts: string[], sizes: number[]) =>
  (await db.one<SampleRow>(userSample, [projectId, starts, sizes]))!

/** The attributes of the newest devices, by the names of the segment language. */
export const sampleDevices = async (db: Db, projectId: ProjectId, limit: number) =>
  (await db.one<SampleRow>(deviceSample, [projectId, limit]))!

/** The properties of events of one name, among the latest events before each time. */
export const sampleEvents = async (db: Db, projectId: ProjectId, untils: Date[], sizes: number[], name: string) =>
  (await db.one<SampleRow>(eventSample, [projectId, untils, sizes, name]))!

/** The names of the latest events before each time. */
export const sampleEventNames = async (db: Db, projectId: ProjectId, untils: Date[], sizes: number[]) =>
  (await db.one<{ sampled: number; items: { name: string; count: number }[] }>(eventNames, [projectId, untils, sizes]))!
