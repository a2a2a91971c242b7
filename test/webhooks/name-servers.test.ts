import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { refuseAddress, resolveBySystem, resolverWith } from '../../src/platform/net/guard.ts'

test('names whose servers never answer hold up no other look-up of the process', async (t) => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const resolve = resolverWith([`127.0.0.1:${(silent.address() as AddressInfo).port}`])
  let registered = 0
  const registering = Array.from({ length: 50 }, async (_, index) => {
    assert.equal(await refuseAddress(`https://hook-${index}.example/`, false, resolve), null)
    registered += 1
  })
  await once(silent, 'message')
  assert.notEqual((await resolveBySystem('localhost')).length, 0)
  assert.equal(registered, 0)
  await Promise.all(registering)
})

test('a name of this machine is resolved without a name server', async () => {
  const found = await resolverWith(['127.0.0.1:1'])('localhost')
  assert.ok(found.every(({ address }) => address === '127.0.0.1' || address === '::1'))
})
