import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestOf } from '../../gateway.ts'
import { noBody } from '../bytes.ts'
import { status200 } from './hpack-decoder.ts'
import { Stream } from './streams.ts'

const started = () => {
  const stream = new Stream(1, 0, { ended() {} }, requestOf({ ':method': 'GET' }, noBody))
  stream.head(status200, false)
  return stream
}

test('a body that comes byte by byte is kept in few buffers', (t) => {
  const stream = started()
  const bytes = Buffer.from('0123456789')
  const made = [t.mock.method(Buffer, 'from'), t.mock.method(Buffer, 'allocUnsafe')]
  for (let index = 0; index < 10_000; index += 1) stream.data(bytes, index % 10, (index % 10) + 1, false)
  const calls = made.reduce((total, { mock }) => total + mock.callCount(), 0)
  const ending = stream.answer()
  assert.ok(ending.kind === 'answer')
  assert.equal(ending.body, '0123456789'.repeat(1_000))
  assert.ok(calls > 0 && calls < 30, `${calls} buffers`)
})

test('of an endless body 16 KiB are kept', () => {
  const stream = started()
  for (let index = 0; index < 100; index += 1) stream.data(Buffer.alloc(1_000, 'x'), 0, 1_000, false)
  assert.ok(stream.kept >= 16 * 1024 && stream.kept <= 32 * 1024, `${stream.kept} bytes`)
  const ending = stream.answer()
  assert.ok(ending.kind === 'answer')
  assert.equal(ending.body.length, 16 * 1024)
})
