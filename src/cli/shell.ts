import type { Readable, Writable } from 'node:stream'

/** The surroundings of a command. Commands read and write only through it, so that main.ts alone touches the process. */
export interface Shell {
  env: NodeJS.ProcessEnv
  stdin: Readable & { isTTY?: boolean }
  stdout: Output
  stderr: Output
  /** From this call on, Ctrl-C calls `stop` instead of ending the process. */
  onInterrupt(stop: () => void): void
}

export type Output = Writable & { isTTY?: boolean; columns?: number }

export const print = (shell: Shell, text: string) => void shell.stdout.write(`${text}\n`)
export const remark = (shell: Shell, text: string) => void shell.stderr.write(`${text}\n`)
export const printJson = (shell: Shell, value: unknown) => print(shell, JSON.stringify(value, null, 2))

/** A signal that Ctrl-C aborts. */
export function interruption(shell: Shell): AbortSignal {
  const controller = new AbortController()
  shell.onInterrupt(() => controller.abort())
  return controller.signal
}
