import type pg from 'pg'
import type { NodeRole } from '../../platform/nodes/nodes.ts'

// Plain queries: the database has the schema of an earlier version, or of none.

export interface Facts {
  version: string
  bytes: number
  set_up: boolean
}

export async function readFacts(client: pg.Client): Promise<Facts> {
  const { rows } = await client.query<Facts>(
    `select current_setting('server_version') as version, pg_database_size(current_database())::float8 as bytes,
            to_regclass('migrations') is not null as set_up`
  )
  return rows[0]!
}

export interface TableSize {
  name: string
  rows: number
  bytes: number
}

/** Estimates by the statistics of the server, with the partitions of a table added up. */
export async function readSizes(client: pg.Client): Promise<Map<string, TableSize>> {
  const { rows } = await client.query<TableSize>(
    `select coalesce(p.relname, c.relname) as name, sum(greatest(c.reltuples, 0))::float8 as rows,
            sum(pg_table_size(c.oid))::float8 as bytes
       from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`
  )
  return new Map(rows.map((row) => [row.name, row]))
}

export interface KnownNode {
  role: NodeRole
  host: string
  pid: number
  version: string
  /** Null for a node of code that did not record it. */
  newest_migration: number | null
  settings: string[] | null
}

/** The running nodes. Read from JSON, because nodes of an earlier schema have fewer columns. */
export async function readNodes(client: pg.Client): Promise<KnownNode[]> {
  const { rows } = await client.query<{ node: KnownNode }>(
    `select to_jsonb(n) as node from nodes n where seen_at > now() - interval '10 seconds' order by id`
  )
  return rows.map(({ node }) => node)
}

export interface OpenTransaction {
  pid: number
  who: string
  seconds: number
}

/** Transactions of other programs that hold the locks of tables for long. */
export async function readTransactions(client: pg.Client): Promise<OpenTransaction[]> {
  const { rows } = await client.query<OpenTransaction>(
    `select pid, coalesce(nullif(application_name, ''), usename) as who,
            extract(epoch from now() - xact_start)::int as seconds
       from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '30 seconds'
      order by xact_start`
  )
  return rows
}
