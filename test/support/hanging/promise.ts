import { createServer } from 'node:http'
import { test } from 'node:test'

test('it waits for a promise that never ends, beside a server that is never closed', async () => {
  createServer().listen(0, '127.0.0.1')
  await new Promise(() => {})
})
