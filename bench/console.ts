// The console in Chromium, as a person meets it: size and time of the first load, requests of Home while nothing changes,
// and the frames of a list of 10,000 users while it scrolls, with the work of the main thread for each, which can be
// compared on a busy machine too:
//   node bench/console.ts [--rounds 5] [--idle-seconds 60] [--rows 10000]
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    'idle-seconds': { type: 'string', default: '60' },
    rows: { type: 'string', default: '10000' }
  }
})
const [rounds, idleSeconds, rows] = [values.rounds, values['idle-seconds'], values.rows].map(Number) as [
  number,
  number,
  number
]
const port = 18_438
const base = `http://127.0.0.1:${port}`
const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))

/** The element that scrolls the table. */
const scrolled = `[...document.querySelectorAll('*')].find((each) =>
  each.querySelector('table[aria-label=Users]') && each.scrollHeight > each.clientHeight + 10 && getComputedStyle(each).overflowY !== 'visible')`
/** Scrolls from the top for ten seconds, 40 pixels with each frame, and returns how long each frame took. */
const scroll = `new Promise((resolve) => {
  const list = ${scrolled}
  list.scrollTop = 0
  const frames = []
  let before
  const step = (now) => {
    performance.mark('frame')
    if (before !== undefined) frames.push(now - before)
    before = now
    list.scrollTop += 40
    if (frames.length < 600) requestAnimationFrame(step)
    else resolve(frames)
  }
  requestAnimationFrame(step)
})`

const service = spawn(process.execPath, [resolve(import.meta.dirname, '../bin/tidings.js'), 'serve'], {
  stdio: 'ignore',
  env: { ...process.env, DATA_DIR: dataDir, PORT: String(port) }
})
// Listened to from the start: it may end by itself, for example at Ctrl-C.
const exited = new Promise((resolve) => service.once('exit', resolve))
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox']
})
try {
  await until('the service serves its console', async () => {
    const text = await fetch(`${base}/console/`).then((reply) => reply.text())
    return text.includes('/console/assets/') && existsSync(join(dataDir, 'credentials.json'))
  })
  const { admin_token: token, secret_key: key } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
  await measureFirstLoad(token)
  await measureIdle(token)
  await measureScrolling(token, key)
} finally {
  await browser.close()
  service.kill('SIGTERM')
  await exited
  rmSync(dataDir, { recursive: true, force: true })
}

async function until(what: string, isTrue: () => Promise<boolean>, withinMs = 120_000): Promise<void> {
  for (const began = performance.now(); !(await isTrue().catch(() => false)); await sleep(100))
    if (performance.now() - began > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A browser with an empty cache, signed in. */
async function signedIn(token: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.request.post(`${base}/console/session`, { data: { token } })
  return context
}

/** Usable: the menu, and the figures of the last hour. */
async function openHome(page: Page): Promise<number> {
  const began = performance.now()
  await page.goto(`${base}/console/p/demo/home`, { waitUntil: 'commit' })
  await page.locator('[data-counter=sent]').waitFor()
  return performance.now() - began
}

async function measureFirstLoad(token: string): Promise<void> {
  const loaded = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/console/assets/'))
    .concat(performance.getEntriesByType('navigation')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`
  const times: number[] = []
  let bytes = 0
  for (let round = 0; round < rounds; round += 1) {
    const context = await signedIn(token)
    const page = await context.newPage()
    times.push(await openHome(page))
    bytes = (await page.evaluate(loaded)) as number
    await context.close()
  }
  report({ name: 'first load of the console', value: median(times), unit: 'ms', better: 'less' })
  console.log(`first load: ${(bytes / 1024).toFixed(1)} KB compressed, usable after ${median(times).toFixed(0)} ms`)
}

async function measureIdle(token: string): Promise<void> {
  const context = await signedIn(token)
  const page = await context.newPage()
  await openHome(page)
  // Until the code of the other pages is loaded.
  await sleep(10_000)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await sleep(idleSeconds * 1_000)
  console.log(`Home while nothing changes: ${((asked.length * 60) / idleSeconds).toFixed(1)} requests a minute`)
  await context.close()
}

function ninetyFifth(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.95)]!
}

interface TraceEvent {
  name: string
  pid: number
  tid: number
  ts: number
  /** Time on the processor, in microseconds: other programs of a busy machine do not count. */
  tdur?: number
}

/** How long the main thread of the page worked between two marks named `frame`: script, style, layout and paint. */
function workOfFrames(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const marks = traceEvents.filter(({ name }) => name === 'frame')
  const [{ pid, tid }] = marks as [TraceEvent]
  const tasks = traceEvents.filter((each) => each.name.endsWith('RunTask') && each.pid === pid && each.tid === tid)
  const starts = marks.map(({ ts }) => ts).sort((one, other) => one - other)
  const work = new Array<number>(starts.length).fill(0)
  for (const { ts, tdur = 0 } of tasks) {
    const next = starts.findIndex((start) => start > ts)
    if (next >= 0) work[next]! += tdur / 1000
  }
  // What ran before the first mark belongs to no frame.
  return work.slice(1)
}

async function measureScrolling(token: string, key: string): Promise<void> {
  const headers = { 'x-service-project-id': 'demo', 'x-service-api-key': key, 'content-type': 'application/json' }
  for (let from = 0; from < rows; from += 500) {
    const users = Array.from({ length: 500 }, (_, n) => ({
      project_user_id: `user-${from + n}`,
      properties: { name: `User ${from + n}`, plan: n % 2 ? 'free' : 'premium' }
    }))
    const reply = await fetch(`${base}/api/v1/users:batch`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ users })
    })
    if (!reply.ok) throw new Error(await reply.text())
  }
  const context = await signedIn(token)
  const page = await context.newPage()
  await page.goto(`${base}/console/p/demo/users`)
  await page.getByRole('table', { name: 'Users' }).waitFor()
  await until('all rows are loaded', async () => {
    await page.evaluate(`{ const list = ${scrolled}; list.scrollTop = list.scrollHeight }`)
    return (await page.getByText(/^[\d,]+ entries$/).count()) > 0
  })
  await browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] })
  const frames = (await page.evaluate(scroll)) as number[]
  const work = workOfFrames(await browser.stopTracing())
  const late = frames.filter((ms) => ms > 17.7).length
  console.log(
    `${rows} rows: median frame ${median(frames).toFixed(1)} ms, 95 % within ${ninetyFifth(frames).toFixed(1)} ms, ` +
      `${((1000 * frames.length) / frames.reduce((sum, ms) => sum + ms, 0)).toFixed(1)} frames a second, ${late} of ${frames.length} late`
  )
  report({
    name: 'main thread for a frame while 10,000 users scroll, 95 %',
    value: ninetyFifth(work),
    unit: 'ms',
    better: 'less',
    limit: { name: '60 frames a second', value: 16.7 }
  })
  console.log(
    `its main thread works ${median(work).toFixed(1)} ms for a frame, 95 % within ${ninetyFifth(work).toFixed(1)} ms (60 frames a second leave 16.7)`
  )
  await context.close()
}
