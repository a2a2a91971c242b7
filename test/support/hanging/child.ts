import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

test('it waits for a child that ignores SIGTERM and keeps the output open', { timeout: 1_000 }, async () => {
  const deaf = 'trap "" TERM INT; while :; do sleep 1; done'
  const child = spawn('/bin/sh', ['-c', `${deaf} # ${process.env.HANGING_MARK}`], { stdio: 'inherit' })
  await once(child, 'exit')
})
