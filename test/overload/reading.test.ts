import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { startService, type TestProject } from '../support/service.ts'

const requestOf = ({ id, secretKey }: TestProject) =>
  `GET /api/v1/users/none HTTP/1.1\r\nHost: a\r\nX-Service-Project-ID: ${id}\r\nX-Service-API-Key: ${secretKey}\r\n\r\n`

describe('connections are read projects by turns', () => {
  it('a quiet project is served among the first, though 400 connections of another were readable before it', async () => {
    const service = await startService()
    const [noisy, quiet] = await Promise.all([
      service.project({ limits: { requests_per_second: 0 } }),
      service.project()
    ])
    const port = Number(new URL(service.url).port)
    const served: string[] = []
    async function open(name: string, project: TestProject): Promise<Socket> {
      const socket = connect(port, '127.0.0.1').setNoDelay()
      await once(socket, 'connect')
      // The service knows the project of a connection by its first request.
      socket.write(requestOf(project))
      await once(socket, 'data')
      socket.on('data', () => served.push(name))
      return socket
    }
    const floods: Socket[] = []
    while (floods.length < 400) floods.push(await open('noisy', noisy))
    const own = await open('quiet', quiet)
    for (const socket of floods) socket.write(requestOf(noisy))
    const answered = once(own, 'data')
    own.write(requestOf(quiet))
    await answered
    for (const socket of [...floods, own]) socket.destroy()
    const place = served.indexOf('quiet')
    // A turn has 32 requests. Where opening so many took long, the key of the quiet project is looked up again meanwhile.
    assert.ok(place >= 0 && place < 150, `${place} responses came before it`)
  })
})
