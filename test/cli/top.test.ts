import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import { describe, it } from 'node:test'
import { runCli } from '../../src/cli/program.ts'
import { figuresOf } from '../../src/cli/top/figures.ts'
import { readSamples } from '../../src/cli/top/reading.ts'
import { eventually, startService } from '../support/service.ts'
import { run } from './service.ts'

const service = await startService()

/** A terminal of 80 columns and 24 rows, and its keyboard. */
function terminal() {
  let shown = ''
  const modes: boolean[] = []
  const stdout = Object.assign(
    new Writable({
      write(chunk: Buffer, _, done) {
        shown += chunk
        done()
      }
    }),
    { isTTY: true, columns: 80, rows: 24 }
  )
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => void modes.push(raw) })
  return { stdin, stdout, modes, shown: () => shown }
}

describe('tidings top', () => {
  it('prints the figures of one interval, as text that fits a screen or as JSON', async () => {
    const options = { env: { TIDINGS_URL: service.url } }
    const [text, json] = await Promise.all([
      run(['top', '--once', '--interval', '1'], options),
      run(['top', '--once', '--interval', '1', '--json'], options)
    ])
    assert.deepEqual([text.code, text.stderr, json.code], [0, '', 0])
    const lines = text.stdout.split('\n')
    assert.ok(lines.length <= 24 && lines.every((line) => line.length <= 80), text.stdout)
    assert.match(text.stdout, /^Jobs +ready \d+ +oldest /m)
    assert.doesNotMatch(text.stdout, /\x1b/, 'a pipe gets no escape sequences')
    const figures = json.json<ReturnType<typeof figuresOf>>()
    assert.deepEqual([figures.health, Object.keys(figures.gateways)], ['ready', ['apns', 'fcm', 'webpush']])
    assert.ok(figures.process.memory_bytes > 1e6)
  })

  for (const [name, key] of [
    ['q', 'q'],
    ['Ctrl-C', '\x03']
  ] as const)
    it(`takes the terminal, and gives it back when ${name} is pressed`, async () => {
      const { stdin, stdout, modes, shown } = terminal()
      const shell = { env: { TIDINGS_URL: service.url }, stdin, stdout, stderr: stdout, onInterrupt() {} }
      const ended = runCli(['top', '--interval', '1'], shell)
      await eventually(() => assert.match(shown(), /Database +\d+ connections/))
      stdin.write(key)
      assert.equal(await ended, 0)
      assert.deepEqual(modes, [true, false])
      assert.ok(shown().startsWith('\x1b[?1049h\x1b[?25l') && shown().endsWith('\x1b[?25h\x1b[?1049l'))
    })

  it('says what to do about a service that is away, hides its metrics or is another one', async () => {
    let status = 403
    const other = createServer((_, response) => response.writeHead(status).end('hello')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const url = `http://127.0.0.1:${(other.address() as { port: number }).port}`
    const top = () => run(['top', '--once', '--url', url])
    const hidden = await top()
    assert.deepEqual([hidden.code, /give --metrics-token/.test(hidden.stderr)], [4, true], hidden.stderr)
    status = 200
    const wrong = await top()
    assert.deepEqual([wrong.code, /no metrics of Tidings/.test(wrong.stderr)], [1, true], wrong.stderr)
    other.close()
    other.closeAllConnections()
    // Another port, because a connection to the first one may still be kept.
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    const away = await run(['top', '--once', '--url', `http://127.0.0.1:${port}`])
    assert.deepEqual([away.code, /Start it with `tidings serve`/.test(away.stderr)], [5, true], away.stderr)
  })

  it('counts a restarted process from zero, and reads labels with any characters', () => {
    const reading = (ms: number, sent: number) => ({
      ms,
      health: 'ready',
      samples: readSamples(`# HELP x\ntidings_messages_total{state="failed",reason="A \\"b\\" {c}"} ${sent}\n`)
    })
    assert.equal(figuresOf(reading(0, 100), reading(2_000, 110)).messages.per_second, 5)
    assert.equal(figuresOf(reading(0, 100), reading(2_000, 8)).messages.per_second, 4)
    assert.deepEqual(figuresOf(reading(0, 0), reading(1_000, 1)).messages.failed_by_reason, { 'A \\"b\\" {c}': 1 })
  })
})
