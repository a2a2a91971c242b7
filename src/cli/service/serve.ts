import type { Command } from 'commander'
import { readConfig } from '../../platform/config.ts'
import { OperatorError } from '../../platform/errors.ts'
import type { NodeRole } from '../../platform/nodes.ts'
import { Ended, exit } from '../exit.ts'
import { choice, examples, jsonOption } from '../session.ts'
import type { Shell } from '../shell.ts'
import { stopWithNpx } from './npx.ts'

export function declare(command: Command, shell: Shell): void {
  const role = choice('--role <role>', 'What this process does: requests, background work, or both', [
    'all',
    'api',
    'worker'
  ])
  command.addOption(role.default('all')).addOption(jsonOption())
  examples(
    command,
    [
      'tidings serve',
      'PORT=9000 DATA_DIR=/srv/tidings tidings serve',
      'DATABASE_URL=postgres://tidings@db/tidings tidings serve --role api'
    ],
    `Settings are environment variables; docs/reference/config.md lists them. Without
DATABASE_URL it runs a PostgreSQL of its own in DATA_DIR, for this process
alone: --role api and --role worker need DATABASE_URL. With --json the
document comes when the service is ready; all else goes to standard error.`
  )
  command.action(async (options: { role: NodeRole; json?: true }) => {
    const config = readConfig(shell.env)
    // Nobody else can join it: what an api process accepts would never run, and a worker would never get anything.
    if (options.role !== 'all' && config.DATABASE_URL === undefined)
      throw new OperatorError(
        `--role ${options.role} needs DATABASE_URL: the embedded database serves one process only, which must both ` +
          'answer requests and run jobs. Set DATABASE_URL, or leave --role out.',
        exit.configuration
      )
    stopWithNpx(shell.env)
    const { serve } = await import('./run.ts')
    throw new Ended(await serve(config, options.role, { json: options.json === true }))
  })
}
