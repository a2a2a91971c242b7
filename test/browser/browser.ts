import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, type TestContext } from 'node:test'
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'

/**
 * The path on Debian, unless CHROMIUM names another. CHROMIUM_SHELL names a smaller build without the windows of a browser,
 * which takes less time; it shows no notifications.
 */
const executablePath = (shell: boolean) =>
  (shell && process.env.CHROMIUM_SHELL) || (process.env.CHROMIUM ?? '/usr/bin/chromium')

export const launch = ({ shell = false } = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath(shell),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Without a process for each page, and spare ones that no page uses: a tenth less of CPU.
      '--renderer-process-limit=1',
      '--disable-features=PaintHolding,SpareRendererForSitePerProcess,BackForwardCache',
      // A page lives for seconds, too short for optimized code to pay: some percent less of CPU.
      '--js-flags=--no-maglev --no-turbofan'
    ]
  })

/** One browser for all tests of a file: launching takes longer than many of them. */
let launched: Promise<Browser> | undefined
after(async () => (await launched)?.close())

/** Opens a browser with empty storage, in which the site may show notifications. */
export async function openBrowser(t: TestContext, site: string): Promise<BrowserContext> {
  launched ??= launch()
  const context = await (await launched).newContext({ locale: 'de-AT', timezoneId: 'Europe/Vienna' })
  t.after(() => context.close())
  await context.grantPermissions(['notifications'], { origin: site })
  return context
}

/** Starts a site on another origin than the service. `localhost` is a secure context, so it may use workers and push. */
export async function startSite(t: TestContext, files: Record<string, [type: string, text: string]>): Promise<string> {
  const server = createServer((request, response) => {
    const [type, text] = files[request.url ?? '/'] ?? ['text/plain', 'not here']
    response.writeHead(files[request.url ?? '/'] ? 200 : 404, { 'content-type': type, 'cache-control': 'no-store' })
    response.end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

/** Returns a function that delivers a push to the worker through the developer tools, in place of a push service. */
export async function pushDoor(page: Page, site: string) {
  const session: CDPSession = await page.context().newCDPSession(page)
  const registration = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const found = registrations.find(({ scopeURL, isDeleted }) => scopeURL.startsWith(site) && !isDeleted)
      if (found) resolve(found.registrationId)
    })
  })
  await session.send('ServiceWorker.enable')
  return async (data: string) => {
    await session.send('ServiceWorker.deliverPushMessage', { origin: site, registrationId: await registration, data })
  }
}
