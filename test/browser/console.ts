import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, it, type TestContext } from 'node:test'
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { builtConsole, readFiles } from '../../src/console/console.ts'
import { eventually, startService, type TestService } from '../support/service.ts'
import { launch } from './browser.ts'

/** Time limit of each step, long enough for a busy machine. */
const patienceMs = 20_000
const browser = await launch({ shell: true })
after(() => browser.close())

/** Starts the service with its console, which is built at most once for all test files. */
export async function startWithConsole(env: Record<string, string> = {}): Promise<TestService> {
  return startService(env, { console: { files: await readFiles(await builtConsole(tmpdir())) } })
}

export interface Opened {
  page: Page
  /** Errors and exceptions in the console of the browser. */
  complaints: string[]
}

/** Browsers whose test has ended, by their options. They have the console in their cache; a new one would compile it again. */
const free = new Map<string, BrowserContext[]>()

/** An empty page for each browser. Without any page its renderer would end, and the next one would compile the console again. */
const keepers = new WeakSet<Page>()

/** Opens a browser with empty storage. With a token it is signed in. */
export async function openConsole(
  t: TestContext,
  service: { url: string },
  { token, ...options }: BrowserContextOptions & { token?: string } = {}
): Promise<Opened> {
  const key = JSON.stringify([service.url, options])
  const context = free.get(key)?.pop() ?? (await openContext(service, options))
  t.after(async () => {
    for (const page of context.pages()) if (!keepers.has(page)) await page.close()
    await context.clearPermissions()
    await context.setStorageState({ cookies: [], origins: [] })
    free.set(key, [...(free.get(key) ?? []), context])
  })
  if (token !== undefined) await signIn(context, service, token)
  return openPage(context)
}

async function signIn(context: BrowserContext, service: { url: string }, token: string): Promise<void> {
  const reply = await context.request.post(`${service.url}/console/session`, { data: { token } })
  assert.equal(reply.status(), 200)
}

/** A browser with its own storage and its own cache of the console. */
export async function openContext(
  service: { url: string },
  { token, ...options }: BrowserContextOptions & { token?: string } = {}
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'Europe/Vienna',
    reducedMotion: 'reduce',
    ...options
  })
  context.setDefaultTimeout(patienceMs)
  keepers.add(await context.newPage())
  if (token !== undefined) await signIn(context, service, token)
  return context
}

/** Opens a page that records its errors. */
export async function openPage(context: BrowserContext): Promise<Opened> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  return { page, complaints }
}

/** A story takes one of the first two, by turns. The narrowest phones that are sold have 360 pixels. */
export const looks = [
  { name: 'on a desktop, light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'on a phone, dark', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
  { name: 'on a desktop, dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'on a phone, light', viewport: { width: 360, height: 740 }, colorScheme: 'light' }
] as const

export interface Scene {
  t: TestContext
  /** Opens a page of the console, signed in as the admin or with the token given; with null not signed in. */
  open(service: { url: string; adminToken?: string }, path: string, token?: string | null): Promise<Page>
  /** Takes a screenshot for the docs, in the desktop look only. */
  picture(page: Page, name: string): Promise<void>
  /** Checks accessibility and width of a state that console-pages does not see, such as a dialog. */
  look(page: Page, where: string): Promise<void>
  /** Drops the errors recorded so far. */
  forgive(): void
}

/** The looks of one story: all of them in the long mode; the first, of which the pictures for the docs are taken. */
function looksOf(turn: number) {
  if (process.env.TIDINGS_LONG) return looks
  return process.env.TIDINGS_SCREENSHOTS ? [looks[0]] : [looks[turn % 2]!]
}
const long = Boolean(process.env.TIDINGS_LONG)
let told = 0

/**
 * A test of a whole task. At its end every page it opened must fit its screen and have logged no error except those that
 * match `expected`. It runs in one look, because a task rarely depends on it, and each takes ten seconds. With
 * TIDINGS_LONG it runs in all, and the last state of each page must be accessible; console-pages checks every page.
 */
export function story(name: string, tell: (scene: Scene) => Promise<void>, expected?: RegExp): void {
  for (const { name: look, ...options } of looksOf(told++)) {
    it(`${name} (${look})`, async (t) => {
      const opened: Opened[] = []
      const scene: Scene = {
        t,
        async open(service, path, token = service.adminToken ?? null) {
          const one = await openConsole(t, service, { ...options, ...(token !== null && { token }) })
          opened.push(one)
          await one.page.goto(path.startsWith('http') ? path : `${service.url}/console/${path}`, {
            waitUntil: 'commit'
          })
          return one.page
        },
        picture: async (page, file) => {
          if (look === looks[0].name) await picture(page, file)
        },
        async look(page, where) {
          await assertFits(page, `${where}, ${look}`)
          await assertAccessible(page, `${where}, ${look}`)
        },
        forgive() {
          for (const { complaints } of opened) complaints.length = 0
        }
      }
      await tell(scene)
      for (const { page, complaints } of opened) {
        await (long ? scene.look(page, 'the end') : assertFits(page, `the end, ${look}`))
        assert.deepEqual(
          complaints.filter((text) => !expected?.test(text)),
          []
        )
      }
    })
  }
}

/** The browser logs every rejected request. Stories that enter invalid values expect that. */
export const refusals = /status of 4\d\d/

/** The page must not scroll sideways. Wide content scrolls in its own container. */
export const assertFits = (page: Page, where: string): Promise<void> =>
  eventually(async () => {
    const [all, seen] = (await page.evaluate(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]'
    )) as [number, number]
    assert.ok(all <= seen, `${where} is ${all} wide on a screen of ${seen}`)
  }, 3_000)

/** Opens a page through the menu, which a phone hides behind a button. */
export async function goTo(page: Page, item: string): Promise<void> {
  const link = page.getByRole('link', { name: item, exact: true })
  const menu = page.getByRole('button', { name: 'Menu' })
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor()
  if (await menu.isVisible()) await menu.click()
  await link.click()
}

/** Opens the menu with the account, the members and the way out. */
export async function openAccountMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
}

/** The open dialog. */
export const dialog = (page: Page) => page.getByRole('dialog')

/** Waits until the text is visible. */
export async function sees(place: Page | Locator, text: string | RegExp, withinMs = patienceMs): Promise<Locator> {
  const found = place.getByText(text).first()
  await found.waitFor({ state: 'visible', timeout: withinMs })
  return found
}

/** Chooses an option of a Mantine select, which is not a native one. */
export async function choose(page: Page, label: string, option: string, place: Page | Locator = page): Promise<void> {
  await place.getByLabel(label, { exact: true }).first().click()
  const choice = page.getByRole('option', { name: option, exact: true })
  await choice.click()
  // A page that moves between the press and the release of the mouse loses the click, and the list stays open.
  await choice.waitFor({ state: 'hidden', timeout: 3000 }).catch(() => choice.click())
}

/** Opens a step of the campaign editor. */
export async function toStep(page: Page, name: 'Audience' | 'Message' | 'Timing' | 'Review'): Promise<void> {
  const step = page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name: new RegExp(`^${name}`) })
  await step.click()
  await page.getByRole('heading', { name, exact: true, level: 2 }).waitFor()
}

/** Looks at the preview of the campaign editor, which a phone shows over the page. */
export async function inPreview(page: Page, act: (pane: Locator) => Promise<unknown>): Promise<void> {
  const open = page.getByRole('button', { name: 'Preview', exact: true })
  const pane = page.getByRole('region', { name: 'Preview', exact: true })
  // After a reload neither is there at first.
  await open.or(pane).filter({ visible: true }).first().waitFor()
  const narrow = await open.isVisible()
  if (narrow) await open.click()
  await act(pane)
  if (narrow) await dialog(page).getByRole('button', { name: 'Close' }).click()
}

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/** Fails for every finding of axe. */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  if (!(await page.evaluate('Boolean(globalThis.axe)'))) await page.evaluate(axeSource)
  const violations = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`
  )) as Violation[]
  const findings = violations.flatMap(({ id, nodes }) => {
    const bySummary = Map.groupBy(nodes, ({ failureSummary }) => failureSummary)
    return [...bySummary].map(
      ([summary, same]) => `${id}, ${same.length} times: ${summary} ${same[0]!.html.slice(0, 200)}`
    )
  })
  assert.deepEqual(findings, [], where)
}

const images = resolve(import.meta.dirname, '../../docs/images')

/** Takes a screenshot for the docs if TIDINGS_SCREENSHOTS is set. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!process.env.TIDINGS_SCREENSHOTS) return
  await mkdir(images, { recursive: true })
  await page.screenshot({ path: join(images, `${name}.png`) })
}
