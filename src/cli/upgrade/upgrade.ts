import type { Command } from 'commander'
import { tellFindings } from '../doctor/telling.ts'
import { examples, jsonOption, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

const steps = [
  'Read "You must do" in the changelog of the new version.',
  'Install the new version beside the running one, and run its `tidings upgrade --check` with the settings of the service.',
  'Make a backup.',
  'Restart one node with the new version. It migrates the database; the other nodes go on meanwhile.',
  'Restart the other nodes, one after the other. A node that stops finishes its requests and jobs.',
  'To go back, start the earlier version again. It refuses if the new schema does not let it; then restore the backup.'
]

export function declare(command: Command, shell: Shell): void {
  command.option('--check', 'Say what an upgrade to this version would do, and change nothing').addOption(jsonOption())
  examples(
    command,
    ['tidings upgrade', 'tidings upgrade --check', 'tidings upgrade --check --json | jq .ok'],
    `Without --check it prints the steps of an upgrade. With --check, the new version
looks at the database of the settings while the earlier one runs: migrations and
what they lock, nodes, settings, disk and PostgreSQL. Ends with 1 if the upgrade
would fail, or if nodes must be stopped first.`
  )
  command.action(async (options: { check?: true; json?: true }) => {
    const json = options.json === true
    if (!options.check) return tell({ shell, json }, { steps }, steps.map((step, n) => `${n + 1}. ${step}`).join('\n'))
    const { examineUpgrade } = await import('./examine.ts')
    tellFindings(shell, json, await examineUpgrade(shell))
  })
}
