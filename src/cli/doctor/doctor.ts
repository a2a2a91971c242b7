import { styleText } from 'node:util'
import type { Command } from 'commander'
import { Ended, exit } from '../exit.ts'
import { counted } from '../output.ts'
import { examples, jsonOption, tell } from '../session.ts'
import type { Output, Shell } from '../shell.ts'
import type { Finding } from './check.ts'

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
    const checks = await examine(shell.env)
    const failed = checks.filter(({ status }) => status === 'fail').length
    const warned = checks.filter(({ status }) => status === 'warn').length
    const width = Math.max(...checks.map(({ name }) => name.length))
    const lines = checks.map(
      ({ name, status, message }) => `${coloured(status, shell.stdout)}  ${name.padEnd(width)}  ${message}`
    )
    const end =
      failed > 0
        ? `${counted(failed, 'check')} failed.`
        : warned > 0
          ? `No check failed; ${counted(warned, 'warning')}.`
          : 'All checks passed.'
    tell({ shell, json: options.json === true }, { ok: failed === 0, checks }, `${lines.join('\n')}\n\n${end}`)
    if (failed > 0) throw new Ended(exit.failure)
  })
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

const coloured = (status: Finding['status'], stream: Output) =>
  styleText(colours[status], status.padEnd(4), { stream: stream as unknown as NodeJS.WritableStream })
