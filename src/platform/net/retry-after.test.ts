import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterMs } from './retry-after.ts'

const date = 'Tue, 18 Nov 2025 09:30:00 GMT'

test('RFC 9110, 10.2.3: seconds are the wait, at most an hour', () => {
  assert.equal(retryAfterMs({ 'retry-after': '7' }), 7_000)
  assert.equal(retryAfterMs({ 'retry-after': '0' }), 0)
  assert.equal(retryAfterMs({ 'retry-after': '99999' }), 3_600_000)
})

test('RFC 9110, 10.2.3: a date counts from the date of the response, however far the clock of this node is off', () => {
  assert.equal(retryAfterMs({ date, 'retry-after': 'Tue, 18 Nov 2025 09:30:20 GMT' }), 20_000)
  assert.equal(retryAfterMs({ date, 'retry-after': 'Tue, 18 Nov 2025 09:29:00 GMT' }), 0)
  assert.equal(retryAfterMs({ 'retry-after': new Date(Date.now() + 86_400_000).toUTCString() }), 3_600_000)
})

test('a header that is neither, and no header, demand nothing', () => {
  for (const headers of [{}, { 'retry-after': '' }, { 'retry-after': 'soon' }, { 'retry-after': '-1 x' }])
    assert.equal(retryAfterMs(headers), undefined)
})
