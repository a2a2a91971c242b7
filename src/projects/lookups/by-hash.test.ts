import assert from 'node:assert/strict'
import { it } from 'node:test'
import { byHash } from './by-hash.ts'

it('a found credential keeps no bytes of the connection that it was read from', async () => {
  const received = Buffer.alloc(65_536, 7)
  const hash = received.subarray(100, 132)
  const name = hash.toString('base64')
  const found = await byHash([name], async () => [{ hash, id: 'tok_1', role: 'admin' }])
  assert.deepEqual([...found], [[name, { id: 'tok_1', role: 'admin' }]])
})

it('a row whose hash was not asked for is not found', async () => {
  const [asked, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const found = await byHash([asked.toString('base64')], async () => [{ hash: other, id: 'tok_1' }])
  assert.equal(found.size, 0)
})
