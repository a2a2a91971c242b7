import type pg from 'pg'

// Plain queries on the session of a backup or a restore: they read the catalog, of whatever schema is there.

/** Tables about the processes and the history of a database, which are not copied. */
export const left: readonly string[] = ['migrations', 'nodes']

export interface Table {
  table: string
  columns: string[]
  /** About as many rows as it has. */
  about: number
}

const inSchema = 'c.relnamespace = current_schema()::regnamespace'

/** Tables with their columns; a partition comes with its table. */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<{ table: string; columns: string[]; about: number }>(
    `select c.relname::text as table,
            array(select a.attname::text from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                   order by a.attnum) as columns,
            (select coalesce(sum(greatest(p.reltuples, 0)), 0)::float8 from pg_class p
              where p.oid = c.oid or p.oid in (select inhrelid from pg_inherits where inhparent = c.oid)) as about
       from pg_class c
      where ${inSchema} and c.relkind in ('r', 'p') and not c.relispartition
      order by c.relname collate "C"`
  )
  return rows.filter(({ table }) => !left.includes(table))
}

/** The tables of months. */
export async function listMonths(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname::text as name from pg_class c
      where ${inSchema} and c.relkind = 'r' and c.relispartition order by c.relname collate "C"`
  )
  return rows.map(({ name }) => name)
}

export interface Facts {
  made_at: Date
  server: string
  projects: number
  master_key_check: string | null
}

export async function readFacts(client: pg.Client, checkName: string): Promise<Facts> {
  const { rows } = await client.query<Facts>(
    `select now() as made_at, current_setting('server_version') as server,
            (select count(*)::int from projects) as projects,
            (select value from settings where name = $1) as master_key_check`,
    [checkName]
  )
  return rows[0]!
}

export async function listMigrations(client: pg.Client): Promise<string[]> {
  return (await client.query<{ name: string }>('select name from migrations order by id')).rows.map(({ name }) => name)
}

/** Whether tables of this installation exist, and whether they hold one. */
export async function stateOf(client: pg.Client): Promise<'absent' | 'empty' | 'in use'> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('projects') is not null and to_regclass('settings') is not null as there`
  )
  if (!rows[0]!.there) return 'absent'
  const used = await client.query('select from projects union all select from settings limit 1')
  return used.rows.length > 0 ? 'in use' : 'empty'
}

/** Whether Citus has spread tables of this database over several servers. */
export async function isDistributed(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('pg_dist_partition') is not null as there`
  )
  if (!rows[0]!.there) return false
  return (await client.query(`select from pg_dist_partition where partmethod = 'h' limit 1`)).rows.length > 0
}

export interface Rebuilt {
  drop: string
  make: string
}

/** Foreign keys, and indexes that no constraint needs: built after the rows are there, which is faster and in bounded memory. */
export async function listRebuilt(client: pg.Client): Promise<{ keys: Rebuilt[]; indexes: Rebuilt[] }> {
  const keys = await client.query<Rebuilt>(
    `select format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname) as drop,
            format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)) as make
       from pg_constraint k join pg_class c on c.oid = k.conrelid
      where ${inSchema} and k.contype = 'f' and k.conparentid = 0`
  )
  const indexes = await client.query<Rebuilt>(
    `select format('drop index %s', i.indexrelid::regclass) as drop, pg_get_indexdef(i.indexrelid) as make
       from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
      where ${inSchema} and not c.relispartition and not x.relispartition
        and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))`
  )
  return { keys: keys.rows, indexes: indexes.rows }
}
