import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { startService } from '../support/service.ts'
import { done, lines, overStdio, refused } from './clients.ts'

const service = await startService()
const binary = resolve(import.meta.dirname, '../../bin/tidings.js')

describe('tidings mcp', () => {
  for (const line of lines)
    it(`serves the official client ${line} on standard input and output`, async () => {
      const project = await service.project()
      const client = await overStdio(line, {
        command: process.execPath,
        args: [binary, 'mcp', '--url', service.url],
        env: { TIDINGS_KEY: project.secretKey, PATH: process.env.PATH! }
      })
      try {
        assert.ok((await client.listTools()).tools.some(({ name }) => name === 'create-user'))
        assert.equal((await done(client, 'create-user', { projectUserId: 'ána' })).projectUserId, 'ána')
        assert.match((await refused(client, 'create-user', {})).reason, /missing field/)
        const { contents } = await client.readResource({ uri: 'tidings://campaigns' })
        assert.deepEqual(JSON.parse((contents[0] as { text: string }).text), { campaigns: [] })
        const [task] = await service.sql('select content from a2a_tasks where project_id = $1', [project.id])
        assert.match(JSON.stringify(task), /"agent":"tester"/)
      } finally {
        await client.close()
      }
    })

  it('passes on that the key is not accepted, and says which option to check', async () => {
    const reply = await exchange({ TIDINGS_KEY: 'svc_sk_unknown' }, { jsonrpc: '2.0', id: 7, method: 'tools/list' })
    assert.match(reply.json[0].error.message, /The service refused: Invalid API key. Check --key or TIDINGS_KEY/)
    assert.equal(reply.json[0].id, 7)
  })

  it('responds with an error while the service is away', async () => {
    const away = { TIDINGS_KEY: 'svc_sk_x', TIDINGS_URL: 'http://127.0.0.1:9' }
    const reply = await exchange(away, { jsonrpc: '2.0', id: 'a', method: 'tools/list' })
    assert.match(reply.json[0].error.message, /^No response from http:\/\/127.0.0.1:9: /)
  })

  it('keeps standard output for the protocol: a line that is no JSON is skipped, and the next one served', async () => {
    const project = await service.project()
    const reply = await exchange(
      { TIDINGS_KEY: project.secretKey },
      { jsonrpc: '2.0', id: 3, method: 'resources/templates/list' },
      'nonsense {\n'
    )
    assert.deepEqual([reply.code, reply.json.length, reply.json[0].id], [0, 1, 3])
  })

  it('does not start without a secret key', async () => {
    for (const [key, code] of [
      ['svc_pk_public', 2],
      ['svc_at_token', 2],
      ['', 78]
    ] as const) {
      const reply = await exchange({ TIDINGS_KEY: key }, '')
      assert.deepEqual([reply.code, reply.json], [code, []], reply.stderr)
      assert.match(reply.stderr, /key/)
    }
  })
})

/** Sends one line to the program, and returns the lines that it writes until it ends. */
async function exchange(env: Record<string, string>, line: object | string, before = '') {
  const child = spawn(process.execPath, [binary, 'mcp'], {
    env: { TIDINGS_URL: service.url, DATA_DIR: '/nonexistent', ...env },
    stdio: ['pipe', 'pipe', 'pipe']
  })
  after(() => child.kill())
  child.stdin.on('error', () => {})
  child.stdin.write(`${before}${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
  const [stdout, stderr, ended] = [text(child.stdout), text(child.stderr), once(child, 'close')]
  // The program ends with its input, so the input stays open until the response is there.
  if (typeof line === 'object') await once(child.stdout, 'data')
  child.stdin.end()
  const [code] = await ended
  const written = (await stdout).split('\n').filter(Boolean)
  return { code: code as number, json: written.map((one) => JSON.parse(one)), stderr: await stderr }
}
