import type pg from 'pg'
import { askNodes, type CitusFacts, readCitus, readTables, type Table } from './facts.ts'

/** What keeps a database from being distributed, or from working once it is; none if all is well. */
export interface Checked {
  /** Undefined without Citus. */
  citus: CitusFacts | undefined
  tables: Table[]
  faults: string[]
  warnings: string[]
}

const guide = 'docs/guides/distributed.md has the steps.'

/** Checks the servers of a Citus cluster, reading only. */
export async function checkCitus(client: pg.Client, name: string): Promise<Checked> {
  const citus = await readCitus(client)
  if (!citus) return { citus, tables: [], faults: [await withoutCitus(client, name)], warnings: [] }
  if (!citus.coordinator) {
    const fault = `${name} is a worker of a Citus cluster. Set DATABASE_URL to the coordinator.`
    return { citus, tables: [], faults: [fault], warnings: [] }
  }
  const faults = nodeFaults(citus)
  const warnings: string[] = []
  if (faults.length === 0) {
    const reached = await askNodes(
      client,
      `select current_setting('max_prepared_transactions') || ' ' || current_setting('max_connections')`
    )
    for (const { address, answered, value } of reached) {
      if (!answered)
        faults.push(`The server ${address} does not answer: ${value}. Start it, or check pg_hba.conf there.`)
      else {
        const [prepared, connections] = value.split(' ').map(Number) as [number, number]
        const advice = `Set it to ${connections}, its max_connections, and restart it.`
        if (prepared === 0)
          faults.push(
            `max_prepared_transactions is 0 on ${address}, so writes to several servers cannot be committed. ${advice}`
          )
        else if (prepared < connections)
          warnings.push(`max_prepared_transactions is ${prepared} on ${address}. ${advice}`)
      }
    }
  }
  return { citus, tables: await readTables(client), faults, warnings }
}

async function withoutCitus(client: pg.Client, name: string): Promise<string> {
  const { rows } = await client.query(`select from pg_available_extensions where name = 'citus'`)
  return rows.length > 0
    ? `The database ${name} does not use Citus. Run "create extension citus" in it, on the coordinator and on each worker, and add the workers. ${guide}`
    : `The server of ${name} has no Citus. Without it there is nothing to distribute: Tidings runs on a plain PostgreSQL as it is. ${guide}`
}

function nodeFaults({ nodes }: CitusFacts): string[] {
  const faults: string[] = []
  if (!nodes.some(({ coordinator }) => coordinator))
    faults.push(
      `The coordinator does not know its own address. Run "select citus_set_coordinator_host('<host>', <port>)" in the database. ${guide}`
    )
  if (!nodes.some(({ holdsShards, active }) => holdsShards && active))
    faults.push(`No worker can hold projects. Add one: "select citus_add_node('<host>', <port>)". ${guide}`)
  for (const { address, active } of nodes)
    if (!active) faults.push(`The server ${address} is not active. Run "select citus_activate_node('<host>', <port>)".`)
  return faults
}

/** Whether the role of this connection may change all of these tables. */
export async function ownedByOthers(client: pg.Client, tables: Table[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relname = any($1)
        and not pg_has_role(current_user, relowner, 'member')`,
    [tables.map(({ name }) => name)]
  )
  return rows.map(({ name }) => name)
}

/** The bytes of these tables on this server, with their indexes and partitions. */
export async function bytesOf(client: pg.Client, tables: Table[]): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(coalesce(i.inhrelid, c.oid))), 0) as bytes from pg_class c
       left join pg_inherits i on i.inhparent = c.oid
      where c.relnamespace = current_schema()::regnamespace and c.relname = any($1)`,
    [tables.map(({ name }) => name)]
  )
  return Number(rows[0]!.bytes)
}
