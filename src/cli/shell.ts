import type { Readable, Writable } from 'node:stream'

/** Where a command runs. Everything it reads or writes goes through here, so that main.ts alone touches the process. */
export interface Shell {
  env: NodeJS.ProcessEnv
  stdin: Readable & { isTTY?: boolean }
  stdout: Output
  stderr: Output
  /** From here on Ctrl-C no longer ends the process but calls this, and the command tidies up. */
  onInterrupt(stop: () => void): void
}

export type Output = Writable & { isTTY?: boolean; columns?: number }

export const print = (shell: Shell, text: string) => void shell.stdout.write(`${text}\n`)
export const remark = (shell: Shell, text: string) => void shell.stderr.write(`${text}\n`)
export const printJson = (shell: Shell, value: unknown) => print(shell, JSON.stringify(value, null, 2))

/** Aborted by Ctrl-C. */
export function interruption(shell: Shell): AbortSignal {
  const controller = new AbortController()
  shell.onInterrupt(() => controller.abort())
  return controller.signal
}
