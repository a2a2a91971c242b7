import { styleText } from 'node:util'
import { Ended, exit } from '../exit.ts'
import { counted } from '../output.ts'
import { tell } from '../session.ts'
import type { Output, Shell } from '../shell.ts'
import type { Finding } from './check.ts'

/** Prints a line for each finding and a last one about all. Ends the command with 1 if a check failed. */
export function tellFindings(shell: Shell, json: boolean, checks: Finding[]): void {
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
  tell({ shell, json }, { ok: failed === 0, checks }, `${lines.join('\n')}\n\n${end}`)
  if (failed > 0) throw new Ended(exit.failure)
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

const coloured = (status: Finding['status'], stream: Output) =>
  styleText(colours[status], status.padEnd(4), { stream: stream as unknown as NodeJS.WritableStream })
