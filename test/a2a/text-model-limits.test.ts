import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import pino from 'pino'
import { createTextModel } from '../../src/a2a/turns/text-model.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/service.ts'
import { grammar, skills } from './skills.ts'

const server = await startReceiver({ secure: false })
after(server.close)

const text = 'Ana is on the gold plan from today'
const answer = JSON.stringify({
  choices: [{ message: { content: JSON.stringify({ skill: 'create-user', projectUserId: 'ana' }) } }]
})

function modelAt(url: string, seconds: number) {
  const lines: string[] = []
  const log = pino({ level: 'trace', base: null, timestamp: false }, { write: (line: string) => lines.push(line) })
  const metrics = createMetrics()
  const model = createTextModel({ url, name: 'small-1', key: 'sk-secret', seconds, skills, grammar, log, metrics })
  return { model, lines, counted: () => metrics.registry.metrics() }
}

describe('a text model', () => {
  it('keeps what an address has behind its path', async () => {
    server.respond = (_, response) => response.writeHead(200).end(answer)
    const { model } = modelAt(`${server.url}/openai/v1?version=3`, 10)
    assert.equal((await model.read(text))?.kind, 'confirm')
    assert.equal(server.received.at(-1)!.path, '/openai/v1/chat/completions?version=3')
  })

  it('is waited for so long and no longer, also when it has begun to answer', async () => {
    for (const begin of [false, true]) {
      server.respond = (_, response) => begin && response.writeHead(200).write('{')
      const { model, lines } = modelAt(server.url, 1)
      assert.equal(await model.read(text), undefined)
      assert.match(lines.join(), /"reason":"TimeoutError"/)
    }
  })

  it('that never stops answering is cut off', async () => {
    const closed = Promise.withResolvers<void>()
    server.respond = (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(16_384))) {}
      }
      response.writeHead(200).on('drain', more).on('close', closed.resolve)
      more()
    }
    const { model, lines } = modelAt(server.url, 10)
    assert.equal(await model.read(text), undefined)
    assert.match(lines.join(), /"reason":"its response is too long"/)
    await closed.promise
  })

  it('that cannot be reached is of no use, and the log says why, without the key', async () => {
    const gone = await startReceiver({ secure: false })
    await gone.close()
    const { model, lines } = modelAt(gone.url, 10)
    assert.equal(await model.read(text), undefined)
    assert.deepEqual(lines, [`{"level":40,"reason":"ECONNREFUSED","msg":"the text model was of no use"}\n`])
  })

  it('is asked about eight texts at a time, and about none of those beyond', async () => {
    const waiting: (() => void)[] = []
    server.received.length = 0
    server.respond = (_, response) => waiting.push(() => response.writeHead(200).end(answer))
    const { model, counted } = modelAt(server.url, 60)
    const readings = Array.from({ length: 10 }, () => model.read(text))
    await eventually(() => assert.equal(waiting.length, 8))
    assert.deepEqual(await Promise.all(readings.slice(8)), [undefined, undefined])
    for (const go of waiting.splice(0)) go()
    assert.deepEqual(
      (await Promise.all(readings.slice(0, 8))).map((reading) => reading?.kind),
      Array(8).fill('confirm')
    )
    assert.equal(server.received.length, 8)
    assert.match(await counted(), /texts_total\{outcome="busy"\} 2/)
    const another = model.read(text)
    await eventually(() => assert.equal(waiting.length, 1))
    waiting[0]!()
    assert.equal((await another)?.kind, 'confirm', 'those that are done make room')
  })

  it('is not waited for by a service that stops', async () => {
    server.respond = () => {}
    const { model } = modelAt(server.url, 60)
    const reading = model.read(text)
    model.close()
    assert.equal(await reading, undefined)
  })
})
