import type { Command } from 'commander'
import type pg from 'pg'
import { readConfig } from '../../platform/config/config.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import { bytes, counted } from '../output.ts'
import { showCount } from '../progress.ts'
import { examples, jsonOption, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import { type OnDatabase, onDatabase, refuseWhileNodesRun } from './database.ts'

interface Options {
  shards?: string
  check?: true
  yes?: true
  json?: true
}

/** More than an operator would expect to be copied without being asked. */
const muchBytes = 1024 ** 3
const mostShards = 1024

export function declareDistribute(command: Command, shell: Shell): void {
  command
    .description('Spread the projects over the servers of a Citus cluster')
    .option('--shards <number>', 'How many parts the projects are spread over (default: citus.shard_count, 32)')
    .option('--check', 'Only check whether it is possible, and say what would be done')
    .option('--yes', `Copy more than ${bytes(muchBytes)} without asking`)
    .addOption(jsonOption())
  examples(
    command,
    ['tidings db distribute --check', 'tidings db distribute', 'tidings db distribute --shards 64'],
    `DATABASE_URL names the coordinator. Prepare the cluster first:
docs/guides/distributed.md has the steps. Stop all nodes. Tables of projects move
to the workers, all others stay on the coordinator. An interrupted run is
continued by the next one, and a finished one has nothing left to do. Later
migrations distribute the tables that they add.`
  )
  command.action(async (options: Options) => {
    const shards = readShards(options.shards)
    const config = readConfig(shell.env)
    if (config.DATABASE_URL === undefined)
      throw new Failure(
        exit.configuration,
        'configuration',
        'The embedded PostgreSQL is one server and cannot be distributed. Set DATABASE_URL to the coordinator of a Citus cluster; docs/guides/distributed.md has the steps.'
      )
    const done = await onDatabase(shell, config, (database) => run(database, shell, { ...options, shards }))
    tell({ shell, json: options.json === true }, done, sentence(done))
  })
}

function readShards(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const shards = Number(given)
  if (!/^\d+$/.test(given) || shards < 1 || shards > mostShards)
    throw usageFailure(`--shards must be a number from 1 to ${mostShards}.`)
  return shards
}

interface Done {
  database: string
  citus: string
  workers: string[]
  /** The rows of each table that was distributed now, or would be. */
  tables: Record<string, number | null>
  distributed: number
  warnings: string[]
  checked_only: boolean
}

async function run(
  { pool, name, interrupt }: OnDatabase,
  shell: Shell,
  options: Omit<Options, 'shards'> & { shards: number | undefined }
): Promise<Done> {
  const [{ migrate }, { checkCitus }, { distribute, leftToDistribute }] = await Promise.all([
    import('../../platform/db/migrate.ts'),
    import('../../platform/db/citus/check.ts'),
    import('../../platform/db/citus/distribute.ts')
  ])
  const client = await (pool.session ?? pool.connect)()
  try {
    await client.query('set statement_timeout = 0')
    const refuse = (faults: string[]) => {
      if (faults.length > 0) throw new Failure(exit.failure, 'not_distributable', faults.join('\n'))
    }
    refuse((await checkCitus(client, name)).faults)
    return await migrate(pool, async () => {
      const { citus, tables, warnings } = await checkCitus(client, name)
      for (const warning of warnings) remark(shell, warning)
      const left = leftToDistribute(tables)
      await refuseUnlessReady(client, pool, left, options)
      const shown = showCount(shell.stderr, 'Distributing')
      const rows = options.check
        ? Object.fromEntries(left.map((table) => [table.name, null]))
        : await distribute(client, {
            ...(options.shards !== undefined && { shards: options.shards }),
            progress: (at, total, table) => shown.at(at, total, ` tables ${table}`),
            signal: interrupt
          }).finally(shown.end)
      return {
        database: name,
        citus: citus!.version,
        workers: citus!.nodes.filter(({ holdsShards }) => holdsShards).map(({ address }) => address),
        tables: rows,
        distributed: tables.filter(({ tenant }) => tenant).length - (options.check ? left.length : 0),
        warnings,
        checked_only: options.check === true
      }
    })
  } finally {
    await client.end().catch(() => {})
  }
}

async function refuseUnlessReady(
  client: pg.Client,
  pool: OnDatabase['pool'],
  left: { name: string }[] & Parameters<typeof import('../../platform/db/citus/check.ts').bytesOf>[1],
  { yes, check }: Pick<Options, 'yes' | 'check'>
): Promise<void> {
  if (left.length === 0) return
  const { bytesOf, ownedByOthers } = await import('../../platform/db/citus/check.ts')
  const others = await ownedByOthers(client, left)
  if (others.length > 0)
    throw new Failure(
      exit.denied,
      'not_owner',
      `The role of DATABASE_URL does not own ${others.slice(0, 5).join(', ')}${others.length > 5 ? ' and others' : ''}. Connect as their owner.`
    )
  if (check) return
  await refuseWhileNodesRun(pool, 'since the tables cannot be used while they move')
  const size = await bytesOf(client, left)
  if (size > muchBytes && !yes)
    throw new Failure(
      exit.failure,
      'much_data',
      `${bytes(size)} are to be copied to the workers, during which no node can run. The coordinator needs that room until the end, and so do the workers together. Give --yes to start.`
    )
}

function sentence({ database, citus, workers, tables, distributed, checked_only }: Done): string {
  const over = `${counted(workers.length, 'worker')} (${workers.join(', ')}), Citus ${citus}`
  const names = Object.keys(tables)
  if (checked_only)
    return names.length === 0
      ? `The database ${database} is distributed over ${over}. Nothing is left to do.`
      : `The database ${database} can be distributed over ${over}: ${counted(names.length, 'table')} (${names.join(', ')}).`
  if (names.length === 0)
    return `All ${distributed} tables of the database ${database} were distributed already, over ${over}.`
  const rows = Object.values(tables).reduce<number>((all, count) => all + (count ?? 0), 0)
  return `Distributed ${counted(names.length, 'table')} with ${counted(rows, 'row')} of the database ${database} over ${over}.\nNow start the nodes, all with DATABASE_URL at the coordinator.`
}
