import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ranBinary, run, startService, temporaryFolder } from './service.ts'

type Answer = (request: IncomingMessage, response: ServerResponse, attempt: number) => void

/** A server that is not Tidings, or a Tidings that fails. Keeps the requests it received. */
async function fakeServer(t: TestContext, answer: Answer) {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    answer(request, response, seen.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** An address where no server listens any more. */
async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

const empty: Answer = (_, response) => {
  response.setHeader('content-type', 'application/json').end('{"items":[],"next_cursor":null}')
}

test('commands find the service by options, else by variables, else by the data folder', async (t) => {
  const { url, dataDir, credentials } = await startService(t)
  const elsewhere = await temporaryFolder(t)
  const token = credentials.admin_token

  await t.test('the data folder alone is enough, by default ./data', async () => {
    assert.equal((await run(['user', 'list'], { env: { DATA_DIR: dataDir } })).code, 0)
    const nothing = await ranBinary(['user', 'list'], { cwd: elsewhere })
    assert.equal(nothing.code, 78)
    assert.match(
      nothing.stderr,
      /data\/credentials\.json does not exist\. Start one here with `tidings serve`, set DATA_DIR to /
    )
  })

  await t.test('the local address is used where PUBLIC_URL names another one, with the token of the file', async () => {
    const folder = await temporaryFolder(t)
    const file = { ...credentials, base_url: 'https://tidings.example.invalid', local_url: url }
    await writeFile(join(folder, 'credentials.json'), JSON.stringify(file))
    const ran = await run(['user', 'list'], { env: { DATA_DIR: folder } })
    assert.equal(ran.code, 0, ran.stderr)
    const link = (await run(['console', '--json'], { env: { DATA_DIR: folder } })).json<{ url: string }>()
    assert.match(link.url, /^https:\/\/tidings\.example\.invalid\/console\/#code=/, 'browsers use the public one')
    const named = await run(['console', '--url', url, '--json'], { env: { DATA_DIR: folder } })
    assert.ok(named.json<{ url: string }>().url.startsWith(`${url}/console/`))
  })

  await t.test('variables override the data folder, and options override variables', async () => {
    const env = { TIDINGS_URL: url, TIDINGS_TOKEN: token, TIDINGS_PROJECT: 'demo', DATA_DIR: elsewhere }
    assert.equal((await run(['user', 'list'], { env })).code, 0)
    assert.equal((await run(['user', 'list', '--project', 'other'], { env })).code, 3)
    assert.equal((await run(['user', 'list', '--token', 'svc_at_wrong'], { env })).code, 4)
    assert.equal((await run(['user', 'list', '--url', await deadUrl()], { env })).code, 5)
    const wrong = { ...env, DATA_DIR: dataDir, TIDINGS_TOKEN: 'svc_at_wrong' }
    assert.equal((await run(['user', 'list'], { env: wrong })).code, 4)
    assert.equal((await run(['user', 'list', '--token', token], { env: wrong })).code, 0)
  })

  await t.test('the token and the project of the data folder are used only with its own address', async (t) => {
    const other = await fakeServer(t, empty)
    const ran = await run(['project', 'list', '--url', other.url], { env: { DATA_DIR: dataDir } })
    assert.equal(ran.code, 78)
    assert.match(ran.stderr, /No management token found for/)
    assert.equal(other.seen.length, 0)
    const unnamed = await run(['user', 'list', '--url', other.url, '--token', 'x'], { env: { DATA_DIR: dataDir } })
    assert.equal(unnamed.code, 2)
    assert.match(unnamed.stderr, /^No project given\. /)
    const same = await run(['user', 'list', '--url', `${url}/`], { env: { DATA_DIR: dataDir } })
    assert.equal(same.code, 0)
  })

  await t.test('an invalid address and a broken file are reported', async () => {
    const odd = await run(['project', 'list', '--url', 'localhost:8080', '--token', 'x'])
    assert.equal(odd.code, 2)
    assert.match(odd.stderr, /http:\/\/127\.0\.0\.1:8080/)
    await writeFile(join(elsewhere, 'credentials.json'), '{')
    const broken = await run(['project', 'list'], { env: { DATA_DIR: elsewhere } })
    assert.equal(broken.code, 1)
    assert.match(broken.stderr, /credentials\.json cannot be read/)
  })
})

test('a request is repeated after 429 and 503, as Retry-After says', async (t) => {
  const busy = await fakeServer(t, (request, response, attempt) => {
    if (attempt > 2) return empty(request, response, attempt)
    response.writeHead(attempt === 1 ? 429 : 503, { 'retry-after': '0' }).end()
  })
  const ran = await run(['project', 'list', '--url', busy.url, '--token', 'svc_at_x'])
  assert.deepEqual([ran.code, busy.seen.length], [0, 3])
})

test('a create is not repeated after 503, and a long Retry-After is not waited for', async (t) => {
  const away = await fakeServer(t, (_, response) => void response.writeHead(503, { 'retry-after': '0' }).end())
  const created = await run(['project', 'create', 'X', '--url', away.url, '--token', 'svc_at_x'])
  assert.deepEqual([created.code, away.seen.length], [5, 1])
  const later = await fakeServer(t, (_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end())
  const ran = await run(['project', 'list', '--url', later.url, '--token', 'svc_at_x', '--json'])
  assert.deepEqual([ran.code, later.seen.length], [5, 1])
  assert.match(JSON.parse(ran.stderr).error, /rate limit/)
})

test('a request that may be repeated is sent again when its connection breaks off, and a create is not', async (t) => {
  const { url, seen } = await fakeServer(t, (request, response, attempt) => {
    if (attempt === 2) empty(request, response, attempt)
    else request.socket.destroy()
  })
  const reach = ['--url', url, '--token', 'secret', '-p', 'demo']
  const listed = await run(['user', 'list', ...reach])
  assert.deepEqual([listed.code, listed.stderr, seen.length], [0, '', 2])
  assert.equal((await run(['project', 'create', 'shop', ...reach.slice(0, 4)])).code, 5)
  assert.equal(seen.length, 3)
})

test('a deletion that finds nothing after an attempt without a response has succeeded', async (t) => {
  const cut: Answer = (request) => void request.socket.destroy()
  const refusal = (status: number, code: string): Answer => {
    const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1', 'retry-after': '0' }
    return (_, response) => void response.writeHead(status, headers).end(JSON.stringify({ error: 'No.', code }))
  }
  const gone = refusal(404, 'not_found')
  const after = async (args: string[], ...answers: Answer[]) => {
    const answer: Answer = (request, response, attempt) => answers[attempt - 1]!(request, response, attempt)
    const { url, seen } = await fakeServer(t, answer)
    const ran = await run([...args, '--url', url, '--token', 'svc_at_x', '-p', 'demo'])
    assert.equal(seen.length, answers.length)
    return ran
  }
  const revoke = ['key', 'revoke', '0192']
  for (const lost of [cut, refusal(503, 'unavailable')]) {
    const ran = await after(revoke, lost, refusal(429, 'rate_limited'), gone)
    assert.deepEqual([ran.code, ran.stdout], [0, 'Revoked the key 0192.\n'], ran.stderr)
  }
  assert.equal((await after(revoke, gone)).code, 3)
  // These were refused before any work, so they deleted nothing.
  for (const code of ['rate_limited', 'overloaded'])
    assert.equal((await after(revoke, refusal(code === 'overloaded' ? 503 : 429, code), gone)).code, 3)
  const page: Answer = (_, response) => void response.writeHead(404).end('<html>')
  assert.equal((await after(revoke, cut, page)).code, 1)
  // It deletes nothing, whatever its method.
  assert.equal((await after(['campaign', 'archive', 'sale'], cut, gone)).code, 3)
})

test('connection errors are explained and never show the token', async (t) => {
  const token = 'svc_at_very_secret'
  const page: Answer = (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
  const moved: Answer = (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()
  const broken: Answer = (_, response) => void response.writeHead(500, { 'x-request-id': 'r-1' }).end()
  const cut: Answer = (_, response) => void response.destroy()
  const cases: [answer: Answer, code: number, said: RegExp][] = [
    [page, 1, /is not Tidings/],
    [moved, 1, /another address/],
    [broken, 1, /HTTP 500.*r-1/],
    [cut, 5, /^The connection to http:\S+ failed: .* Try again\.$/m]
  ]
  for (const [answer, code, said] of cases) {
    const { url } = await fakeServer(t, answer)
    const ran = await run(['project', 'list', '--url', url, '--token', token])
    assert.equal(ran.code, code, ran.stderr)
    assert.match(ran.stderr, said)
    assert.ok(!ran.stderr.includes(token))
  }
  const refused = await run(['project', 'list', '--url', await deadUrl(), '--token', token])
  assert.equal(refused.code, 5)
  assert.match(
    refused.stderr,
    /^No service responds at http:\S+\. Start it with `tidings serve`, or check the address\.$/m
  )
  const barred = await run(['project', 'list', '--url', 'http://127.0.0.1:6000', '--token', token])
  assert.match(barred.stderr, /port that HTTP clients refuse/)
})

test('an export that breaks off fails and leaves no partial file', async (t) => {
  const folder = await temporaryFolder(t)
  const half = await fakeServer(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('{"project_user_id":"ana"}\n')
    setTimeout(() => response.destroy(), 50)
  })
  const where = ['--url', half.url, '--token', 'svc_at_x', '-p', 'demo']
  const ran = await run(['user', 'export', '-o', join(folder, 'out'), ...where])
  assert.equal(ran.code, 5)
  assert.match(ran.stderr, /^The connection to /)
  assert.deepEqual(await readdir(folder), [])
})
