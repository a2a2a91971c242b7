import type { Command } from 'commander'
import { readConfig } from '../../platform/config.ts'
import { counted } from '../output.ts'
import { examples, jsonOption, tell } from '../session.ts'
import { interruption, remark, type Shell } from '../shell.ts'

export function declare(command: Command, shell: Shell): void {
  command.addOption(jsonOption())
  examples(
    command,
    ['tidings migrate', 'DATABASE_URL=postgres://tidings@db/tidings tidings migrate'],
    `Every start of the service does this too. Use it where a deployment wants it
as a step of its own.`
  )
  command.action(async (options: { json?: true }) => {
    const config = readConfig(shell.env)
    const [{ openDatabase }, { openPool }, { migrate, readMigrations }, { createLog }] = await Promise.all([
      import('../../platform/db/open.ts'),
      import('../../platform/db/db.ts'),
      import('../../platform/db/migrate.ts'),
      import('../../platform/log.ts')
    ])
    const database = await openDatabase(config, (line) => remark(shell, line), { signal: interruption(shell) })
    try {
      const pool = openPool(database.connection, await createLog(config.LOG_LEVEL), 2)
      const applied = await migrate(pool).finally(() => pool.close())
      const known = readMigrations().length
      tell(
        { shell, json: options.json === true },
        { database: database.name, applied, total: known },
        applied.length > 0
          ? `Applied ${counted(applied.length, 'migration')} to the database ${database.name}:\n${applied.map((name) => `  ${name}`).join('\n')}`
          : `The database ${database.name} is up to date (${counted(known, 'migration')}).`
      )
    } finally {
      await database.stop()
    }
  })
}
