import { test } from 'node:test'
import { outputOf } from '../children.ts'

test('it waits for a command whose own child never ends and holds the output open', { timeout: 1_000 }, async (t) => {
  await outputOf(t, '/bin/sh', ['-c', `sh -c 'while :; do sleep 1; done # ${process.env.HANGING_MARK}'; true`], {})
})
