import type { Command } from 'commander'
import { readConfig } from '../../platform/config/config.ts'
import { counted } from '../output.ts'
import { examples, jsonOption, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { onDatabase } from './database.ts'

export function declare(command: Command, shell: Shell): void {
  command.addOption(jsonOption())
  examples(
    command,
    ['tidings migrate', 'DATABASE_URL=postgres://tidings@db/tidings tidings migrate'],
    `Every start of the service does this too. Use the command where a deployment
migrates in a separate step.`
  )
  command.action(async (options: { json?: true }) => {
    const config = readConfig(shell.env)
    const [{ migrate }, { readMigrations }] = await Promise.all([
      import('../../platform/db/migrate.ts'),
      import('../../platform/db/migrations.ts')
    ])
    const { name, applied } = await onDatabase(shell, config, async ({ pool, name }) => ({
      name,
      applied: await migrate(pool, undefined, { newer: 'beside' })
    }))
    const known = readMigrations().length
    tell(
      { shell, json: options.json === true },
      { database: name, applied, total: known },
      applied.length > 0
        ? `Applied ${counted(applied.length, 'migration')} to the database ${name}:\n${applied.map((one) => `  ${one}`).join('\n')}`
        : `The database ${name} is up to date (${counted(known, 'migration')}).`
    )
  })
}
