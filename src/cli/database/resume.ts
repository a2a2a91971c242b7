import type { Command } from 'commander'
import { readConfig } from '../../platform/config/config.ts'
import { examples, jsonOption, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { onDatabase } from './database.ts'

export function declare(command: Command, shell: Shell): void {
  command.addOption(jsonOption())
  examples(
    command,
    ['tidings resume'],
    `A restored installation is paused. This lets its jobs run again and resumes
every project that the restore paused; projects that were paused before stay so.
Messages that waited in the backup are sent now, also those that the old
installation sent after the backup: look at \`tidings trigger list\` first, and
cancel what must not be sent. It works with the service running or not.`
  )
  command.action(async (options: { json?: true }) => {
    const config = readConfig(shell.env)
    const done = await onDatabase(
      shell,
      config,
      async ({ pool, name }) => {
        const [{ endPause, pauseOf }, { add }, { resumeAll }] = await Promise.all([
          import('../../platform/backup/paused.ts'),
          import('../../platform/jobs/jobs.ts'),
          import('../../projects/projects.ts')
        ])
        const resumed = await pool.transaction(async (tx) => {
          const pause = await pauseOf(tx)
          if (!pause || !(await endPause(tx))) return false
          // The projects follow by a job, which knows what waits in them.
          await add(tx, resumeAll, { since: pause.since }, { key: pause.since })
          return true
        })
        return { database: name, resumed }
      },
      { beside: true }
    )
    tell(
      { shell, json: options.json === true },
      done,
      done.resumed
        ? `The installation in the database ${done.database} is resumed: its projects continue as soon as a node runs jobs.`
        : `The installation in the database ${done.database} is not paused. Paused projects: tidings project resume <id>`
    )
  })
}
