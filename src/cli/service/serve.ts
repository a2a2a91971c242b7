import { type Command, Option } from 'commander'
import { readConfig } from '../../platform/config/config.ts'
import { OperatorError } from '../../platform/errors.ts'
import type { NodeRole } from '../../platform/nodes/nodes.ts'
import { Ended, exit } from '../exit.ts'
import { choice, examples, jsonOption, wholeNumber } from '../session.ts'
import type { Shell } from '../shell.ts'
import { stopWithNpx } from './npx.ts'

export function declare(command: Command, shell: Shell): void {
  const role = choice('--role <role>', 'What this process does: requests (api), jobs (worker), or both (all)', [
    'all',
    'api',
    'worker'
  ])
  const processes = new Option('--processes <n>', 'Processes that serve together behind one port')
  command
    .addOption(role.default('all'))
    .addOption(processes.argParser(wholeNumber(1, 64)).default(1))
    .addOption(jsonOption())
  examples(
    command,
    [
      'tidings serve',
      'PORT=9000 DATA_DIR=/srv/tidings tidings serve',
      'tidings serve --processes 4',
      'DATABASE_URL=postgres://tidings@db/tidings tidings serve --role api'
    ],
    `Settings are environment variables; docs/reference/config.md lists them. Without
DATABASE_URL it runs an embedded PostgreSQL in DATA_DIR, which serves this
command only: --role api and --role worker need DATABASE_URL. One process uses
about one core. --json prints one document once the service is ready; all other
output goes to standard error.`
  )
  command.action(async (options: { role: NodeRole; processes: number; json?: true }) => {
    const config = readConfig(shell.env)
    // No other command can use the embedded database: jobs of an api process would never run, and a worker would never
    // get any.
    if (options.role !== 'all' && config.DATABASE_URL === undefined)
      throw new OperatorError(
        `--role ${options.role} needs DATABASE_URL: the embedded database serves one service only, which must ` +
          'handle requests and run jobs. Set DATABASE_URL, or leave --role out.',
        exit.configuration
      )
    stopWithNpx(shell.env)
    const { role, processes: wanted, json = false } = options
    if (wanted > 1) {
      const { serveInProcesses } = await import('./processes/serve.ts')
      throw new Ended(await serveInProcesses(config, { wanted, role, json, env: shell.env }))
    }
    const { serve } = await import('./run.ts')
    throw new Ended(await serve(config, role, { json }))
  })
}
