import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { startService } from '../support/service.ts'
import { launch } from './browser.ts'

const service = await startService()
const browser = await launch({ shell: true })
after(() => browser.close())
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Opens a page, and fails the test that does if a script fails or another host is called. */
async function open(path: string, options: { width: number; height: number; dark: boolean }): Promise<Page> {
  const { width, height, dark } = options
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' })
  const page = await context.newPage()
  page.on('pageerror', (error) => assert.fail(error.message))
  page.on('request', (request) => assert.ok(request.url().startsWith(service.url), request.url()))
  await page.goto(`${service.url}/docs/${path}`)
  return page
}

const background = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor') as Promise<string>

/** The faults that axe finds. The policy of the page allows no other script, so it is added by the developer tools. */
async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = (await page.evaluate('axe.run()')) as { violations: { id: string; nodes: { html: string }[] }[] }
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`)
}

describe('the docs in a browser', () => {
  it('on a desktop are searched and read with the keyboard alone', async () => {
    const page = await open('', { width: 1300, height: 800, dark: false })
    // The index fails at first, and is slow then.
    const slow = Promise.withResolvers<void>()
    let asked = 0
    await page.route('**/search.json', async (route) => {
      asked += 1
      if (asked === 1) return route.abort()
      await slow.promise
      return route.continue()
    })
    await page.keyboard.press('/')
    await page.getByText('The index could not be loaded.').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Loading the index…').waitFor()
    await page.keyboard.type('quiet hours')
    await page.getByText('Loading the index…').waitFor()
    slow.resolve()
    await page.locator('.search [aria-selected="true"]').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    const heading = await page.locator('.search [aria-selected="true"] strong').textContent()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/\w+/)
    assert.ok((await page.locator('main').textContent())!.includes(heading!))
    await page.keyboard.press('Control+k')
    await page.keyboard.type('zzzzqqqq')
    await page.getByText('Nothing found.').waitFor()
    await page.keyboard.press('Escape')
    assert.ok(await page.locator('.search').isHidden())
    await page.getByRole('link', { name: /^Next/ }).click()
    assert.equal(await page.locator('nav [aria-current="page"]').count(), 1)
    assert.deepEqual(await faults(page), [])
  })

  it('on a phone fit the screen, have a menu, and keep the colours that were chosen', async () => {
    const page = await open('guides/campaigns', { width: 390, height: 800, dark: true })
    const width = () => page.evaluate('document.documentElement.scrollWidth')
    assert.equal(await width(), 390)
    assert.deepEqual(await faults(page), [])
    assert.ok(await page.locator('nav').isHidden())
    await page.getByRole('link', { name: 'Menu' }).click()
    await page.locator('nav').getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    assert.ok(await page.locator('nav').isHidden())
    const dark = await background(page)
    await page.getByRole('button', { name: 'Light or dark' }).click()
    assert.notEqual(await background(page), dark)
    await page.reload()
    assert.notEqual(await background(page), dark)
    assert.equal(await width(), 390)
  })
})
