import { createInterface } from 'node:readline/promises'
import { exit, Failure, usageFailure } from './exit.ts'
import type { Shell } from './shell.ts'

/**
 * Asks before something is lost for good. `expected` is what must be typed; without a terminal nobody can type, so
 * `--yes` is demanded.
 */
export async function confirm(shell: Shell, question: string, expected: RegExp, yes: boolean): Promise<void> {
  if (yes) return
  if (!shell.stdin.isTTY || !shell.stderr.isTTY)
    throw usageFailure('This cannot be undone, and there is no terminal to ask on. Say --yes if it is meant.')
  const asked = createInterface({ input: shell.stdin, output: shell.stderr })
  try {
    const closed = new Promise<undefined>((resolve) => asked.once('close', () => resolve(undefined)))
    const answer = await Promise.race([asked.question(question), closed])
    // Ctrl-C and Ctrl-D end no line.
    if (answer === undefined) shell.stderr.write('\n')
    if (!expected.test(answer?.trim() ?? '')) throw new Failure(exit.failure, 'declined', 'Nothing was deleted.')
  } finally {
    asked.close()
  }
}
