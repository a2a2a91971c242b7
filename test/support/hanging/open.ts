import { createServer } from 'node:http'
import { test } from 'node:test'

test('it passes and leaves a server open', () => {
  createServer().listen(0, '127.0.0.1')
})
