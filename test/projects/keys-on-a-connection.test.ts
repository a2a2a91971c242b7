import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { it } from 'node:test'
import { startService } from '../support/service.ts'

const service = await startService()

it('a text that resembles a key changes nothing for the key on the same connection', async (t) => {
  const { id, publicKey } = await service.project()
  await service.manage('PATCH', `/projects/${id}`, { json: { intake: true } })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const track = (writeKey: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const sent = request(`${service.url}/v1/track`, { agent, method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode!))
      })
      sent.on('error', reject).end(JSON.stringify({ writeKey, userId: 'ana', event: 'Seen' }))
    })
  const last = publicKey.length - 1
  const resembling = publicKey.slice(0, last) + String.fromCharCode(publicKey.charCodeAt(last) + 0x100)
  assert.deepEqual([await track(publicKey), await track(resembling), await track(publicKey)], [200, 401, 200])
})
