import { createInterface } from 'node:readline/promises'
import { exit, Failure, usageFailure } from './exit.ts'
import type { Shell } from './shell.ts'

/**
 * Asks before an irreversible step. `expected` matches the text that must be typed. Without a terminal, `--yes` is
 * required.
 */
export async function confirm(
  shell: Shell,
  question: string,
  expected: RegExp,
  yes: boolean,
  declined = 'Nothing was deleted.'
): Promise<void> {
  if (yes) return
  if (!shell.stdin.isTTY || !shell.stderr.isTTY)
    throw usageFailure('This cannot be undone, and there is no terminal for a confirmation. Give --yes to confirm.')
  const asked = createInterface({ input: shell.stdin, output: shell.stderr })
  try {
    const closed = new Promise<undefined>((resolve) => asked.once('close', () => resolve(undefined)))
    const answer = await Promise.race([asked.question(question), closed])
    // Ctrl-C and Ctrl-D do not end the line of the question.
    if (answer === undefined) shell.stderr.write('\n')
    if (!expected.test(answer?.trim() ?? '')) throw new Failure(exit.failure, 'declined', declined)
  } finally {
    asked.close()
  }
}
