import type pg from 'pg'

/** A server of a Citus cluster, as the coordinator knows it. */
export interface ClusterNode {
  /** host:port */
  address: string
  coordinator: boolean
  active: boolean
  /** Whether it may hold rows of projects. */
  holdsShards: boolean
}

/** A table of a project, or one that all projects share. */
export interface Table {
  name: string
  /** Whether its key begins with project_id. */
  tenant: boolean
  /** Tables that its foreign keys refer to. */
  needs: string[]
  distributed: boolean
  /** Whether it is distributed by project_id, next to the rows of `projects`. */
  together: boolean
}

export interface CitusFacts {
  version: string
  /** Whether this server is the coordinator. The others are its workers. */
  coordinator: boolean
  nodes: ClusterNode[]
}

/** The Citus cluster that a database belongs to; undefined without Citus. */
export async function readCitus(client: pg.Client): Promise<CitusFacts | undefined> {
  const { rows } = await client.query<{ version: string }>(
    `select extversion as version from pg_extension where extname = 'citus'`
  )
  if (!rows[0]) return undefined
  const { rows: here } = await client.query<{ groupid: number }>('select groupid from pg_dist_local_group')
  const { rows: nodes } = await client.query<ClusterNode>(
    `select nodename || ':' || nodeport as address, groupid = 0 as coordinator, isactive as active,
            shouldhaveshards as "holdsShards"
       from pg_dist_node where noderole = 'primary' order by groupid`
  )
  return { version: rows[0].version, coordinator: here[0]?.groupid === 0, nodes }
}

/** All tables of a migrated database with Citus. Tables that others refer to come first. */
export async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `with known as (
       select logicalrelid as id, colocationid, partmethod = 'h' as hashed,
              column_to_column_name(logicalrelid, partkey) as by from pg_dist_partition)
     select c.relname as name, coalesce(a.attname = 'project_id', false) as tenant, k.id is not null as distributed,
            coalesce(k.hashed and k.by = 'project_id' and k.colocationid = p.colocationid, false) as together,
            array(select f.relname::text from pg_constraint r join pg_class f on f.oid = r.confrelid
                   where r.contype = 'f' and r.conrelid = c.oid and r.confrelid <> c.oid) as needs
       from pg_class c
       left join pg_index x on x.indrelid = c.oid and x.indisprimary
       left join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
       left join known k on k.id = c.oid
       left join known p on p.id = to_regclass('projects')
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname !~ '^(citus|pg_dist)_'
      order by c.relname`
  )
  return inOrder(rows)
}

function inOrder(tables: Table[]): Table[] {
  const ordered: Table[] = []
  const placed = (name: string) => ordered.some((table) => table.name === name)
  while (ordered.length < tables.length) {
    const ready = tables.filter(({ name, needs }) => !placed(name) && needs.every(placed))
    if (ready.length === 0) throw new Error('tables refer to each other')
    // Everything else is placed next to the rows of this table.
    ordered.push(...ready.sort((one, two) => Number(two.name === 'projects') - Number(one.name === 'projects')))
  }
  return ordered
}

/** The answer of each server to a query of one value, or why there is none. */
export async function askNodes(
  client: pg.Client,
  query: string
): Promise<{ address: string; answered: boolean; value: string }[]> {
  const { rows } = await client.query<{ address: string; answered: boolean; value: string }>(
    `select n.nodename || ':' || n.nodeport as address, success as answered, result as value
       from run_command_on_all_nodes($1) r join pg_dist_node n on n.nodeid = r.nodeid order by n.groupid`,
    [query]
  )
  return rows
}
