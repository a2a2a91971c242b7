import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

test('it starts a process that outlives its parent, in a session of its own, with the output open', async () => {
  const orphan = `setsid sh -c 'trap "" TERM; while :; do sleep 1; done # ${process.env.HANGING_MARK}' &`
  await once(spawn('/bin/sh', ['-c', orphan], { stdio: 'inherit' }), 'exit')
})
