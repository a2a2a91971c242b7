import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { eventually, startService } from '../support/service.ts'
import { longestTurn } from '../support/turns.ts'

const service = await startService()
const { hostname, port } = new URL(service.url)

/** Opens a connection, sends the bytes, and counts the responses. */
function flood(bytes: string | Buffer): { socket: Socket; answers: () => number; text: () => string } {
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => {})
  socket.write(bytes)
  return { socket, answers: () => text.split('HTTP/1.1 ').length - 1, text: () => text }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const many = process.env.TIDINGS_LONG ? 5_000 : 1_000

describe('no connection gets more than its share of a turn', () => {
  for (const path of ['/', '/healthz', '/api/v1/health', '/console/session']) {
    it(`20 connections with ${many} GET ${path} sent ahead: a health call is served among the first`, async () => {
      const bytes = Buffer.from(get(path).repeat(many))
      const floods = Array.from({ length: 20 }, () => flood(bytes))
      try {
        await eventually(() => assert.ok(floods.every(({ answers }) => answers() > 0)))
        const { result, turnMs } = await longestTurn(() => service.ask('GET', '/healthz'))
        assert.equal(result.status, 200)
        const answered = floods.reduce((sum, { answers }) => sum + answers(), 0)
        assert.ok(answered < 20 * many * 0.9, `${answered} of ${20 * many} were answered before it`)
        // The turn took 6.9 s when every chunk was drained before anything else was read.
        assert.ok(turnMs < 400, `one turn took ${turnMs} ms`)
      } finally {
        for (const { socket } of floods) socket.destroy()
      }
    })
  }

  it('all requests of a connection are answered, in their order', async () => {
    const paths = Array.from({ length: 1_000 }, (_, index) => (index % 3 === 0 ? '/healthz' : '/nowhere'))
    const one = flood(paths.map(get).join(''))
    await eventually(() => assert.equal(one.answers(), paths.length))
    const statuses = [...one.text().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    assert.deepEqual(
      statuses,
      paths.map((path) => (path === '/healthz' ? '200' : '404'))
    )
    one.socket.destroy()
  })

  it('the shortest requests, 3,600 in a chunk, are parsed by pieces', async () => {
    const bytes = Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(20_000))
    const floods: ReturnType<typeof flood>[] = []
    const { turnMs } = await longestTurn(async () => {
      for (let index = 0; index < 10; index += 1) floods.push(flood(bytes))
      await eventually(() => assert.ok(floods.every(({ answers }) => answers() > 20)))
      for (let index = 0; index < 10; index += 1) assert.equal((await service.ask('GET', '/healthz')).status, 200)
    })
    for (const { socket } of floods) socket.destroy()
    assert.ok(turnMs < 400, `one turn took ${turnMs} ms`)
  })

  it('a body that arrives in many pieces, behind others, is read whole', async () => {
    const project = await service.project()
    const headers = `Host: a\r\nX-Service-Project-ID: ${project.id}\r\nX-Service-API-Key: ${project.secretKey}\r\nContent-Type: application/json\r\n`
    const post = (user: string, bytes: number) => {
      const body = JSON.stringify({ project_user_id: user, else: 'x'.repeat(bytes) })
      return `POST /api/v1/users HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
    }
    const sent = Array.from({ length: 40 }, (_, index) => post(`user-${index}`, index % 4 === 0 ? 300_000 : 10))
    const one = flood(sent.join(''))
    await eventually(() => assert.equal(one.answers(), sent.length), 30_000)
    assert.equal(one.text().match(/HTTP\/1\.1 200/g)?.length, sent.length)
    one.socket.destroy()
  })

  it('bytes that are not HTTP are refused once, after the requests before them', async () => {
    const one = flood(`${get('/healthz')}${'no http at all\r\n'.repeat(2_000)}`)
    await eventually(() => assert.match(one.text(), /HTTP\/1\.1 400 Bad Request[\s\S]*X-Request-ID/))
    assert.equal(one.answers(), 2)
    one.socket.destroy()
  })
})
