import type { Command } from 'commander'
import { examples, jsonOption } from '../session.ts'
import type { Shell } from '../shell.ts'
import { tellFindings } from './telling.ts'

export function declare(command: Command, shell: Shell): void {
  command.addOption(jsonOption())
  examples(
    command,
    ['tidings doctor', 'tidings doctor --json | jq \'.checks[] | select(.status != "ok")\''],
    `Run it with the settings of the service. It only reads. Ends with 1 if a check
fails.`
  )
  command.action(async (options: { json?: true }) => {
    const { examine } = await import('./examine.ts')
    tellFindings(shell, options.json === true, await examine(shell.env))
  })
}
