import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { startService } from '../support/service.ts'

const service = await startService()
const fixed = 'Project User Id must be provided'

describe('POST /api/v1/users does it (spec 4.1)', () => {
  it('creates a user and answers the stored properties', async () => {
    const project = await service.project()
    const properties = { plan: 'premium', age: 31, vip: true, note: null }
    const reply = await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties } })
    assert.equal(reply.status, 200)
    assert.match(reply.headers['content-type']!, /^application\/json/)
    assert.deepEqual(reply.json, { properties })
  })

  it('creates a user without properties', async () => {
    const project = await service.project()
    const reply = await project.call('POST', '/api/v1/users', { json: { project_user_id: 'bo' } })
    assert.equal(reply.status, 200)
    assert.equal(reply.text, '{"properties":{}}')
  })

  it('merges into a user that exists and answers all stored properties', async () => {
    const project = await service.project()
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { a: 1, b: 2 } } })
    const reply = await project.call('POST', '/api/v1/users', {
      json: { project_user_id: 'ana', properties: { b: null, c: 'x' } }
    })
    assert.deepEqual(reply.json, { properties: { a: 1, b: null, c: 'x' } })
  })

  it('ignores unknown fields and takes the last of duplicate keys', async () => {
    const project = await service.project()
    const body = '{"project_user_id":"x","project_user_id":"ana","else":{"deep":[1]},"properties":{"a":1,"a":2}}'
    const reply = await project.call('POST', '/api/v1/users', {
      body,
      headers: { 'content-type': 'application/json; charset=utf-8' }
    })
    assert.deepEqual(reply.json, { properties: { a: 2 } })
    assert.equal((await project.call('GET', '/api/v1/users/x')).status, 404)
  })

  it('keeps __proto__, constructor and the like as ordinary keys', async () => {
    const project = await service.project()
    const text = '{"__proto__":"p","constructor":1,"toString":true,"hasOwnProperty":null}'
    const body = `{"project_user_id":"__proto__","properties":${text}}`
    const reply = await project.call('POST', '/api/v1/users', { body, headers: { 'content-type': 'application/json' } })
    assert.equal(reply.status, 200)
    const entries = (json: string) => Object.entries(JSON.parse(json).properties ?? JSON.parse(json)).sort()
    assert.deepEqual(entries(reply.text), entries(text))
    assert.deepEqual(entries((await project.call('GET', '/api/v1/users/__proto__')).text), entries(text))
  })

  it('reads escaped names as they are written, whatever another project wrote before (nodejs/node issue 63785)', async () => {
    const [one, other] = [await service.project(), await service.project()]
    const headers = { 'content-type': 'application/json' }
    const cases = [
      ['\\\\', '\\u540d'],
      ['\\\\u00e9', '\\u00e9coles'],
      // PostgreSQL returns these with an escape.
      ['x\\\\', 'x\\"'],
      ['y\\\\', 'y\\n'],
      ['z\\\\', 'z\\u0001']
    ]
    // V8 expects the name that always came after the ones before it. So each case begins with another name, and no object
    // with the right names is made here.
    for (const [place, [before, name]] of cases.entries()) {
      const properties = `{"a${place}":1,${JSON.stringify(JSON.parse(`"${name}"`))}:2}`
      const sent = (text: string) => `{"project_user_id":"ana","properties":{"a${place}":1,"${text}":2}}`
      const written = (text: string) => one.call('POST', '/api/v1/users', { body: sent(text), headers })
      assert.equal((await written(before!)).status, 200)
      const reply = await other.call('POST', '/api/v1/users', { body: sent(name!), headers })
      assert.equal(reply.text, `{"properties":${properties}}`)
      const path = `/projects/${other.id}/users:import`
      const ndjson = { 'content-type': 'application/x-ndjson' }
      const body = sent(name!).replace('ana', 'bo')
      assert.equal((await service.manage('POST', path, { body, headers: ndjson })).json.imported, 1)
      assert.ok((await other.call('GET', '/api/v1/users/bo')).text.includes(`"properties":${properties}`))
      await other.call('DELETE', '/api/v1/users/ana')
      await other.call('DELETE', '/api/v1/users/bo')
    }
  })

  it('gives numbers back as JavaScript prints them', async () => {
    const project = await service.project()
    const numbers = [0, -0, 1.5, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, -(2 ** 53), 0.1 + 0.2]
    const properties = Object.fromEntries(numbers.map((number, index) => [`n${index}`, number]))
    const reply = await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties } })
    const stored = await project.call('GET', '/api/v1/users/ana')
    for (const { json } of [reply, stored]) {
      for (const [index, number] of numbers.entries())
        assert.equal(String(json.properties[`n${index}`]), String(number))
    }
  })
})

describe('POST /api/v1/users refuses (spec 4.1, 7)', () => {
  const bad: [string, string][] = [
    ['no project_user_id', '{"properties":{}}'],
    ['an empty id', '{"project_user_id":""}'],
    ['a number as id', '{"project_user_id":123}'],
    ['null as id', '{"project_user_id":null}'],
    ['an array as id', '{"project_user_id":["a"]}'],
    ['white space as id', '{"project_user_id":" \\u2003 "}'],
    ['a dot as id', '{"project_user_id":"."}'],
    ['two dots as id', '{"project_user_id":".."}'],
    ['a control character in the id', '{"project_user_id":"a\\u0007"}'],
    ['a C1 control character in the id', '{"project_user_id":"a\\u0085b"}'],
    ['a lone surrogate in the id', '{"project_user_id":"a\\ud800"}'],
    ['an id of 513 characters', `{"project_user_id":"${'é'.repeat(513)}"}`],
    ['properties that are an array', '{"project_user_id":"a","properties":[]}'],
    ['properties that are null', '{"project_user_id":"a","properties":null}'],
    ['properties that are a string', '{"project_user_id":"a","properties":"x"}'],
    ['an object as a value', '{"project_user_id":"a","properties":{"x":{}}}'],
    ['an array as a value', '{"project_user_id":"a","properties":{"x":[1]}}'],
    ['a number outside double range', '{"project_user_id":"a","properties":{"x":1e400}}'],
    ['NUL in a value', '{"project_user_id":"a","properties":{"x":"\\u0000"}}'],
    ['NUL in a name', '{"project_user_id":"a","properties":{"\\u0000":1}}'],
    ['a lone surrogate in a value', '{"project_user_id":"a","properties":{"x":"\\udc00"}}'],
    ['a lone surrogate in a name', '{"project_user_id":"a","properties":{"\\ud800":1}}'],
    ['an empty name', '{"project_user_id":"a","properties":{"":1}}'],
    ['a name of 257 characters', `{"project_user_id":"a","properties":{"${'n'.repeat(257)}":1}}`],
    ['an empty body', ''],
    ['a body of blanks', '   '],
    ['a truncated body', '{"project_user_id":"a"'],
    ['NaN', '{"project_user_id":"a","properties":{"x":NaN}}'],
    ['a body that is an array', '[]'],
    ['a body that is a string', '"a"'],
    ['a body that is null', 'null'],
    ['a body nested a million deep', '['.repeat(1_000_000)],
    ['a value nested deep', `{"project_user_id":"a","properties":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`]
  ]
  for (const [what, body] of bad) {
    it(`${what}, with the fixed text and a reason in the headers`, async () => {
      const project = await service.project()
      const reply = await project.call('POST', '/api/v1/users', {
        body,
        headers: { 'content-type': 'application/json' }
      })
      assert.equal(reply.status, 400)
      assert.equal(reply.text, fixed)
      assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
      assert.match(String(reply.headers['x-service-error-code']), /^[a-z_]+$/)
      assert.match(String(reply.headers['x-service-error-detail']), /^[\x20-\x7e]{1,500}$/)
      const list = await service.manage('GET', `/projects/${project.id}/users`)
      assert.deepEqual(list.json.items, [], 'nothing was stored')
    })
  }

  it('a body that is not UTF-8', async () => {
    const project = await service.project()
    const body = Buffer.concat([Buffer.from('{"project_user_id":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const reply = await project.call('POST', '/api/v1/users', { body, headers: { 'content-type': 'application/json' } })
    assert.deepEqual([reply.status, reply.text], [400, fixed])
  })

  for (const type of [
    'text/html',
    'text/plain; charset=utf-16',
    'application/jsonp',
    'application/json; charset=utf-16',
    'garbage',
    ''
  ]) {
    it(`the content type ${type}`, async () => {
      const project = await service.project()
      const reply = await project.call('POST', '/api/v1/users', {
        body: '{"project_user_id":"a"}',
        headers: { 'content-type': type }
      })
      assert.deepEqual([reply.status, reply.text], [400, fixed])
    })
  }

  it('a body of 10 MiB and one byte, with 413', async () => {
    const project = await service.project()
    const shell = '{"project_user_id":"a","else":""}'
    const exact = shell.replace('""', `"${'x'.repeat(10 * 1024 * 1024 - shell.length)}"`)
    const headers = { 'content-type': 'application/json' }
    assert.equal((await project.call('POST', '/api/v1/users', { body: exact, headers })).status, 200)
    const reply = await project.call('POST', '/api/v1/users', { body: `${exact} `, headers })
    assert.equal(reply.status, 413)
    assert.equal(reply.json.code, 'body_too_large')
    assert.ok(reply.headers['x-request-id'])
  })

  it('a body that is far too large, also to a client that reads nothing before all of it is sent', async () => {
    const project = await service.project()
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    const size = 30_000_000
    socket.write(
      `POST /api/v1/users HTTP/1.1\r\nHost: x\r\nX-Service-Project-ID: ${project.id}\r\n` +
        `X-Service-API-Key: ${project.secretKey}\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`
    )
    await new Promise<void>((resolve, reject) => socket.write(Buffer.alloc(size), (e) => (e ? reject(e) : resolve())))
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    const answers = await text(socket)
    assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413', 'HTTP/1.1 200'])
  })
})

describe('the reason in the headers', () => {
  for (const [json, code, detail] of [
    [{}, 'invalid_project_user_id', 'project_user_id: must be given'],
    [{ project_user_id: 5 }, 'invalid_project_user_id', 'project_user_id: must be a string'],
    [
      { project_user_id: '..' },
      'invalid_project_user_id',
      'project_user_id: must not be . or .., which cannot stand in a path'
    ],
    [{ project_user_id: 'a', properties: [] }, 'invalid_properties', 'properties: must be an object'],
    [
      { project_user_id: 'a', properties: { 'ü\n': {} } },
      'invalid_properties',
      /^properties\.\\u\{fc\}\\u\{a\}: must be/
    ],
    [[], 'malformed_body', 'body: must be an object']
  ] as const) {
    it(`names ${code} for ${JSON.stringify(json)}`, async () => {
      const project = await service.project()
      const { headers } = await project.call('POST', '/api/v1/users', { json })
      assert.equal(headers['x-service-error-code'], code)
      if (typeof detail === 'string') assert.equal(headers['x-service-error-detail'], detail)
      else assert.match(String(headers['x-service-error-detail']), detail)
    })
  }
})

describe('the size of a user (settled)', () => {
  it('is at most 1,000 properties, counting those that are stored', async () => {
    const project = await service.project()
    const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, index]))
    const put = (json: unknown) => project.call('POST', '/api/v1/users', { json })
    assert.equal((await put({ project_user_id: 'ana', properties })).status, 200)
    assert.equal((await put({ project_user_id: 'ana', properties: { p0: 'changed' } })).status, 200)
    const over = await put({ project_user_id: 'ana', properties: { extra: 1 } })
    assert.deepEqual(
      [over.status, over.text, over.headers['x-service-error-code']],
      [400, fixed, 'properties_too_large']
    )
    assert.equal((await put({ project_user_id: 'bo', properties: { ...properties, extra: 1 } })).status, 400)
    const patched = await project.call('PATCH', '/api/v1/users/ana', { json: { properties: { extra: 1 } } })
    assert.deepEqual([patched.status, patched.text], [400, fixed])
    assert.equal(Object.keys((await project.call('GET', '/api/v1/users/ana')).json.properties).length, 1_000)
  })

  it('is at most 64 KiB of compact JSON, to the byte, with the stored properties', async () => {
    const project = await service.project()
    const put = (id: string, properties: unknown) =>
      project.call('POST', '/api/v1/users', { json: { project_user_id: id, properties } })
    const filled = (bytes: number) => ({ a: 1e-7, é: 'x'.repeat(bytes - '{"a":0.0000001,"é":""}'.length - 1) })
    assert.equal((await put('ana', filled(65_536))).status, 200)
    assert.equal((await put('ana', { a: 1e-7 })).status, 200)
    assert.equal((await put('ana', { a: 1e-8 })).status, 400)
    assert.equal((await put('bo', filled(65_537))).status, 400)
    assert.equal((await put('bo', { z: 1 })).status, 200)
    assert.equal((await put('bo', filled(65_536))).status, 400)
  })

  it('counts numbers as they are written out, however little the database needs for them', async () => {
    const project = await service.project()
    const put = (properties: unknown) =>
      project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties } })
    // {"p100":0.000…5,…}: 334 bytes each, with the comma; about 21 in jsonb.
    const tiny = (from: number, to: number) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`p${from + index}`, 5e-324]))
    assert.equal((await put(tiny(100, 200))).status, 200)
    assert.equal((await put(tiny(200, 296))).status, 200)
    assert.equal((await put(tiny(296, 297))).status, 400)
    assert.equal((await put({ p100: 0 })).status, 200)
    assert.equal((await put(tiny(296, 297))).status, 200)
  })

  it('never fails a neighbour that is written at the same time', async () => {
    const project = await service.project()
    const writes = Array.from({ length: 100 }, (_, index) =>
      project.call('POST', '/api/v1/users', {
        json: { project_user_id: `u${index}`, properties: { text: 'x'.repeat(index % 10 === 0 ? 65_530 : 10) } }
      })
    )
    const statuses = (await Promise.all(writes)).map((reply) => reply.status)
    assert.deepEqual(
      statuses,
      statuses.map((_, index) => (index % 10 === 0 ? 400 : 200))
    )
  })
})

describe('POST /api/v1/users keeps tenants apart', () => {
  it('the same id in two projects is two users', async () => {
    const [one, two] = [await service.project(), await service.project()]
    await one.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { of: 'one' } } })
    const reply = await two.call('POST', '/api/v1/users', {
      json: { project_user_id: 'ana', properties: { and: 'two' } }
    })
    assert.deepEqual(reply.json, { properties: { and: 'two' } })
    assert.deepEqual((await one.call('GET', '/api/v1/users/ana')).json, { properties: { of: 'one' } })
  })
})
