import type pg from 'pg'
import { OperatorError } from '../../errors.ts'
import { readCitus, readTables, type Table } from './facts.ts'

/** The settings are wrong, as in `exit.configuration`: waiting does not help. */
const configuration = 78

export interface Distributing {
  /** The number of parts that the projects are spread over; absent: the server's own setting, citus.shard_count. */
  shards?: number
  progress?: (done: number, total: number, table: string) => void
  signal?: AbortSignal
}

/** Tables of projects that are not spread over the servers yet. */
export const leftToDistribute = (tables: Table[]) => tables.filter(({ tenant, distributed }) => tenant && !distributed)

/**
 * Spreads every table of projects over the servers of a Citus cluster by project_id, next to the rows of `projects`.
 * All other tables stay on the coordinator. Each table is a transaction, so an interrupted call is continued by the next
 * one. Call it under the lock of migrations, while no node runs. Returns the rows of each table that it distributed.
 */
export async function distribute(client: pg.Client, given: Distributing = {}): Promise<Record<string, number>> {
  const { progress = () => {}, signal } = given
  await keepConnections(client)
  const left = leftToDistribute(await readTables(client))
  const rows: Record<string, number> = {}
  for (const [done, { name }] of left.entries()) {
    signal?.throwIfAborted()
    progress(done, left.length, name)
    rows[name] = await distributeTable(client, name, given.shards)
  }
  const wrong = (await readTables(client)).filter(({ tenant, together }) => tenant !== together)
  if (wrong.length > 0)
    throw new OperatorError(
      `These tables are not where they belong: ${wrong.map(({ name }) => name).join(', ')}. ` +
        'Restore them with undistribute_table or alter_distributed_table, then repeat the command.'
    )
  // The coordinator keeps the rows that it had before, invisible, until they are removed.
  for (const { name } of left.filter(({ name }) => rows[name]! > 0))
    await client.query('select truncate_local_data_after_distributing_table($1::text::regclass)', [name])
  progress(left.length, left.length, '')
  return rows
}

/**
 * Lets sessions of this role use one connection to each worker. By default a sweep over all projects that takes longer than
 * 10 ms opens one for each shard and closes them again, each of which starts a process on the worker. The others wait for
 * their turn, and a worker needs no more connections than the coordinator has sessions.
 */
async function keepConnections(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ command: string }>(
    `select format('alter role current_user in database %I set citus.max_adaptive_executor_pool_size = 1',
                   current_database()) as command`
  )
  await client.query('set citus.enable_alter_role_set_propagation = off')
  await client.query(rows[0]!.command)
  await client.query('reset citus.enable_alter_role_set_propagation')
}

async function distributeTable(client: pg.Client, name: string, shards: number | undefined): Promise<number> {
  const count = async () =>
    Number((await client.query<{ count: string }>(`select count(*) from ${name}`)).rows[0]!.count)
  await client.query('begin')
  try {
    await client.query(`lock table ${name} in access exclusive mode`)
    const before = await count()
    const place =
      name === 'projects'
        ? `colocate_with => 'none'${shards ? `, shard_count => ${shards}` : ''}`
        : `colocate_with => 'projects'`
    await client.query(`select create_distributed_table($1::text::regclass, 'project_id', ${place})`, [name])
    const after = await count()
    if (after !== before)
      throw new OperatorError(`Of ${before} rows of ${name}, ${after} reached the workers. Nothing was changed in it.`)
    await client.query('commit')
    return before
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Refuses a worker of a Citus cluster before migrations: the tables that all projects share are not there. */
export async function refuseWorker(client: pg.Client): Promise<void> {
  if ((await readCitus(client))?.coordinator === false)
    throw new OperatorError(
      'DATABASE_URL names a worker of a Citus cluster, on which Tidings cannot run. Set it to the coordinator.',
      configuration
    )
}

/**
 * After migrations: tables that they added to a distributed database are distributed too, because the foreign keys and
 * joins of their statements need them there.
 */
export async function distributeNew(client: pg.Client): Promise<void> {
  if (!(await readCitus(client))) return
  const tables = await readTables(client)
  if (tables.some(({ name, distributed }) => name === 'projects' && distributed)) await distribute(client)
}
