import type { Command } from 'commander'
import { readConfig } from '../../platform/config/config.ts'
import { readHosts } from '../../platform/db/hosts/hosts.ts'
import { usageFailure } from '../exit.ts'
import { counted } from '../output.ts'
import { showCount } from '../progress.ts'
import { examples, jsonOption, tell } from '../session.ts'
import { interruption, type Shell } from '../shell.ts'
import { type OnDatabase, onDatabase, refuseWhileNodesRun } from './database.ts'

export function declare(command: Command, shell: Shell): void {
  command
    .argument('<url>', 'The other, empty database: postgres://… (the password may come from PGPASSWORD or ~/.pgpass)')
    .addOption(jsonOption())
  examples(
    command,
    ['tidings copy postgres://tidings@db.example.com/tidings'],
    `Copies all projects, keys, users, devices, campaigns and everything else from
the database of the settings (the embedded one, unless DATABASE_URL is set).
Stop all nodes first. The source does not change, and an interrupted copy leaves
the other database empty. The master key is not in the database: keep
DATA_DIR/master.key or MASTER_KEY.`
  )
  command.action(async (url: string, options: { json?: true }) => {
    checkAddress(url)
    const config = readConfig(shell.env)
    if (url === config.DATABASE_URL || url === config.DATABASE_LISTEN_URL) throw itself()
    const interrupt = interruption(shell)
    const done = await onDatabase(
      shell,
      { ...config, DATABASE_URL: url, DATABASE_POOLER: undefined, DATABASE_LISTEN_URL: undefined },
      (target) => onDatabase(shell, config, (source) => copy(source, target, shell), { interrupt, mustExist: true }),
      // The operator has just typed the address and can correct it, so the command does not wait for an unreachable
      // database.
      { interrupt, patienceMs: 0, given: 'the address <url>' }
    )
    const rows = Object.values(done.rows).reduce((all, count) => all + count, 0)
    tell(
      { shell, json: options.json === true },
      done,
      `Copied ${counted(rows, 'row')} from the database ${done.from} to ${done.to}.\n` +
        'Now set DATABASE_URL to it on every node, keep the master key, and start them.'
    )
  })
}

const itself = () =>
  usageFailure('This is the database of DATABASE_URL itself. Leave DATABASE_URL unset to copy the embedded one.')

function checkAddress(url: string): void {
  try {
    readHosts(url)
  } catch (error) {
    throw usageFailure(`The address of the other database ${(error as Error).message}.`)
  }
}

async function copy(source: OnDatabase, target: OnDatabase, shell: Shell) {
  const [{ copyDatabase, isOneDatabase }, { migrate }] = await Promise.all([
    import('../../platform/db/copying.ts'),
    import('../../platform/db/migrate.ts')
  ])
  // Another name of the same server: both sides would wait for one lock.
  if (await isOneDatabase(source.pool, target.pool)) throw itself()
  const shown = showCount(shell.stderr, 'Copying')
  const rows = await migrate(target.pool, () =>
    migrate(source.pool, async () => {
      await refuseWhileNodesRun(source.pool, 'since the copy would miss what they write')
      return copyDatabase({
        from: source.pool,
        to: target.pool,
        progress: (done, all) => shown.at(done, all, ' rows'),
        signal: source.interrupt
      })
    })
  ).finally(shown.end)
  return { from: source.name, to: target.name, rows }
}
