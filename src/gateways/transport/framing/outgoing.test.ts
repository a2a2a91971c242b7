import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { requestOf } from '../../gateway.ts'
import { Bytes } from '../bytes.ts'
import { Outgoing } from './outgoing.ts'
import { Stream } from './streams.ts'
import type { FrameWriter } from './writer.ts'

test('a thousand changes of windows in one turn of the event loop look at each waiting stream once', async () => {
  let bytes = 0
  const data = (_id: number, part: Uint8Array) => {
    bytes += part.length
  }
  const writer = { request() {}, data }
  const outgoing = new Outgoing(writer as unknown as FrameWriter)
  outgoing.resize(0)
  const request = requestOf({ ':method': 'POST' }, new Bytes(Buffer.alloc(4_000)))
  let looks = 0
  for (let index = 0; index < 100; index += 1) {
    const stream = new Stream(1 + 2 * index, 0, { ended() {} }, request)
    let granted = 0
    Object.defineProperty(stream, 'granted', {
      get: () => {
        looks += 1
        return granted
      },
      set: (value: number) => {
        granted = value
      }
    })
    outgoing.start(stream, request, 0)
  }
  looks = 0
  for (let index = 0; index < 1_000; index += 1) {
    outgoing.resize(index % 2)
    outgoing.resize(0)
    outgoing.grow(1)
  }
  assert.equal(looks, 0)
  await turn()
  assert.deepEqual([looks, bytes], [100, 0])
  outgoing.resize(1)
  outgoing.resize(3)
  await turn()
  assert.equal(bytes, 300)
})
