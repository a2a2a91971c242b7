import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, type TestContext } from 'node:test'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { builtConsole, readFiles } from '../../src/console/console.ts'
import { type Given, startService, type TestService } from '../support/service.ts'
import { launch } from './browser.ts'

/** How long a page may take on a busy machine before a step counts as failed. */
const patienceMs = 20_000
const browser = await launch()
after(() => browser.close())

/** The service with its console, which is built at most once for all files. */
export async function startWithConsole(given: Given = {}): Promise<TestService> {
  return startService({}, { ...given, console: { files: await readFiles(await builtConsole(tmpdir())) } })
}

export interface Opened {
  page: Page
  /** What the browser complained about: errors in the console, exceptions. */
  complaints: string[]
}

/** A browser that remembers nothing. With a token it is signed in already. */
export async function openConsole(
  t: TestContext,
  service: { url: string },
  { token, ...options }: BrowserContextOptions & { token?: string } = {}
): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'Europe/Vienna',
    reducedMotion: 'reduce',
    ...options
  })
  t.after(() => context.close())
  context.setDefaultTimeout(patienceMs)
  if (token !== undefined) {
    const reply = await context.request.post(`${service.url}/console/session`, { data: { token } })
    assert.equal(reply.status(), 200)
  }
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  return { page, complaints }
}

/** The text is, or comes to be, in what is shown. */
export async function sees(place: Page | Locator, text: string | RegExp, withinMs = patienceMs): Promise<Locator> {
  const found = place.getByText(text).first()
  await found.waitFor({ state: 'visible', timeout: withinMs })
  return found
}

/** Chooses from one of Mantine's lists, which are no native ones. */
export async function choose(page: Page, label: string, option: string, place: Page | Locator = page): Promise<void> {
  await place.getByLabel(label, { exact: true }).first().click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/** What axe finds that keeps people out: nothing of serious or critical weight may be left. */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  if (!(await page.evaluate('Boolean(globalThis.axe)'))) await page.evaluate(axeSource)
  const violations = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`
  )) as Violation[]
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const told = grave.flatMap(({ id, nodes }) => {
    const bySummary = Map.groupBy(nodes, ({ failureSummary }) => failureSummary)
    return [...bySummary].map(
      ([summary, same]) => `${id}, ${same.length} times: ${summary} ${same[0]!.html.slice(0, 200)}`
    )
  })
  assert.deepEqual(told, [], where)
}

const images = resolve(import.meta.dirname, '../../docs/images')

/** Written where TIDINGS_SCREENSHOTS is set: the pictures of the docs. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!process.env.TIDINGS_SCREENSHOTS) return
  await mkdir(images, { recursive: true })
  await page.screenshot({ path: join(images, `${name}.png`) })
}
