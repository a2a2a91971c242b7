import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { ask } from '../support/http.ts'
import { startService } from './service.ts'

test('B.1: the command line shows the fields that a trigger ignored', async (t) => {
  const { tidings, feed, url, credentials } = await startService(t)
  const campaign = 'campaign_id: news\nname: News\nstatus: active\nmessage: { title: Hello }\n'
  assert.equal((await feed(campaign, 'campaign', 'apply', '-f', '-')).code, 0)
  // A service that is older than the command line does not know all its fields. The test renames a field on the way,
  // which has the same effect.
  const older = createServer(async (request, response) => {
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers
    const body = (await text(request)).replace('"audience"', '"recipients"')
    const reply = await ask(url, request.method!, request.url!, { headers, body })
    // The times of the service for kept connections are not those of this server.
    const { connection: ____, 'keep-alive': _____, ...repliedHeaders } = reply.headers
    response.writeHead(reply.status, repliedHeaders).end(reply.text)
  })
  await new Promise<void>((done) => older.listen(0, '127.0.0.1', done))
  t.after(() => older.close())
  const { port } = older.address() as AddressInfo
  const through = ['--url', `http://127.0.0.1:${port}`, '--token', credentials.admin_token, '-p', 'demo']

  for (const command of ['trigger', 'preview']) {
    const warned = await tidings('campaign', command, 'news', '--user', 'demo-user', ...through)
    assert.deepEqual([warned.code, warned.stderr], [0, 'Warning: unknown field "recipients"\n'], warned.stdout)
    const fine = await tidings('campaign', command, 'news', '--user', 'demo-user')
    assert.deepEqual([fine.code, fine.stderr], [0, ''])
  }
  const json = await tidings('campaign', 'preview', 'news', '--user', 'demo-user', '--json', ...through)
  assert.deepEqual(json.json<{ warnings: string[] }>().warnings, ['unknown field "recipients"'])
})

test('a preview of a file shows what saving the campaign warns of', async (t) => {
  const { feed } = await startService(t)
  const odd = 'campaign_id: odd\nname: Odd\nmessage: { title: "Hi {{ name }}" }\n'
  const { code, stderr } = await feed(odd, 'campaign', 'preview', '-f', '-', '--user', 'demo-user')
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^Warning: message\.title refers to name, which is always empty: there are trigger, [^\n]*\n$/)
})
