import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { askRaw } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()

describe('requests that are sent one after the other without waiting', () => {
  it('are done in the order in which they came, also when they change, delete and create the same user', async () => {
    const project = await service.project({ limits: { requests_per_second: 0 } })
    const head = (method: string, path: string) =>
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Project-ID: ${project.id}\r\nX-Service-API-Key: ${project.secretKey}\r\n`
    const write = (method: string, path: string, value: unknown) => {
      const body = JSON.stringify(value)
      return `${head(method, path)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    }
    for (let round = 0; round < 20; round += 1) {
      const id = `u${round}`
      const bytes = [
        write('POST', '/api/v1/users', { project_user_id: id, properties: { first: true } }),
        write('PATCH', `/api/v1/users/${id}`, { properties: { second: true } }),
        `${head('DELETE', `/api/v1/users/${id}`)}\r\n`,
        write('PATCH', `/api/v1/users/${id}`, { properties: { lost: true } }),
        write('POST', '/api/v1/users', { project_user_id: id, properties: { last: true } }),
        `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
      ].join('')
      const text = await askRaw(service.url, bytes)
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
      assert.deepEqual(statuses, ['200', '200', '200', '404', '200', '200'])
      assert.match(text, /\{"properties":\{"first":true,"second":true\}\}/)
      assert.deepEqual((await project.call('GET', `/api/v1/users/${id}`)).json, { properties: { last: true } })
    }
  })

  it('are all answered, however many they are', async () => {
    const project = await service.project({ limits: { requests_per_second: 0 } })
    const keys = `Host: x\r\nX-Service-Project-ID: ${project.id}\r\nX-Service-API-Key: ${project.secretKey}\r\n`
    const many = `DELETE /api/v1/users/nobody HTTP/1.1\r\n${keys}\r\n`.repeat(3_000)
    const text = await askRaw(service.url, `${many}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    assert.equal([...text.matchAll(/HTTP\/1\.1 200 /g)].length, 3_001)
  })
})
