import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { build, type Rollup } from 'vite'
import { eventually, startService, type TestProject } from '../support/service.ts'
import { openBrowser, startSite } from './browser.ts'

const service = await startService()
const root = join(import.meta.dirname, '../..')

/** Bundles files as an app would, with the package in its node_modules. Returns each script of the bundle by name. */
async function bundle(files: Record<string, string>): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-bundle-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/tidings'))
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)))
  const complaints: string[] = []
  const { output } = (await build({
    root: folder,
    configFile: false,
    logLevel: 'warn',
    customLogger: { ...quiet, warn: (text) => complaints.push(text), warnOnce: (text) => complaints.push(text) },
    resolve: { conditions: ['source', 'browser', 'import', 'default'] },
    build: {
      write: false,
      minify: false,
      rolldownOptions: {
        input: Object.keys(files).map((name) => join(folder, name)),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].js' }
      }
    }
  })) as Rollup.RollupOutput
  await rm(folder, { recursive: true, force: true })
  assert.deepEqual(complaints, [])
  const chunks = output.filter((one): one is Rollup.OutputChunk => one.type === 'chunk')
  return Object.fromEntries(chunks.map(({ fileName, code }) => [fileName, code]))
}

const none = () => {}
const quiet = {
  info: none,
  warn: none,
  warnOnce: none,
  error: none,
  clearScreen: none,
  hasErrorLogged: () => false,
  hasWarned: false
}

const guide = await readFile(join(root, 'docs/guides/web-push.md'), 'utf8')
const blockOf = (name: string) => new RegExp(`\`\`\`ts\\n// ${name}\\n([^]*?)\`\`\``).exec(guide)![1]!
const forProject = (text: string, { id, publicKey }: TestProject) =>
  text
    .replaceAll('http://127.0.0.1:8080', service.url)
    .replace('svc_pk_…', publicKey)
    .replace(/(["'])demo\1/, `'${id}'`)

/** The page of the guide. It is bundled once, and gets the key of a project when it is opened. */
const shop = await bundle({
  'main.ts': `${blockOf('main.ts')}
    import { createPublicClient } from 'tidings/client'
    Object.assign(globalThis, { tidings, createInbox, createTidings, createPublicClient })`,
  'sw.ts': blockOf('sw.ts'),
  'preferences.ts': blockOf('preferences.ts')
})

/** The page of the guide, open in a browser. */
async function openShop(t: TestContext) {
  const project = await service.project({ mode: 'simulator' })
  const html = `<!doctype html><title>Shop</title><button id="notify">Notify me</button><b id="unread"></b>
    <div id="inbox"></div><form></form><script type="module" src="/main.js"></script>`
  const site = await startSite(t, {
    '/': ['text/html', html],
    ...Object.fromEntries(
      Object.entries(shop).map(([name, text]): [string, [string, string]] => [
        `/${name}`,
        ['text/javascript', forProject(text, project)]
      ])
    )
  })
  const page = await (await openBrowser(t, site)).newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`${site}/`)
  return { project, page, complaints, site }
}

const send = async (project: TestProject, title: string) => {
  const push_notifications = [{ target: { project_user_id: 'ana' }, title, body: 'It works' }]
  const reply = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications } })
  assert.equal(reply.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED', reply.text)
}

const inboxOf = (page: Page) =>
  page.evaluate(
    `[document.querySelector('#unread').textContent, ...[...document.querySelectorAll('#inbox button')].map((one) => one.textContent)]`
  )
const shows = (page: Page, ...expected: string[]) =>
  eventually(async () => assert.deepEqual(await inboxOf(page), expected), 20_000)

describe('the browser client in a bundle by Vite', () => {
  it('the page of the guide shows pushes in its inbox, over a reload too, and empties it when the user logs out', async (t) => {
    const { project, page, complaints } = await openShop(t)
    await shows(page, '0')
    await page.getByRole('button', { name: 'Notify me' }).click()
    await eventually(async () => {
      const sql = 'select 1 from push_tokens where project_id = $1'
      assert.equal((await service.sql(sql, [project.id])).length, 1)
    }, 20_000)
    await send(project, 'One')
    await shows(page, '1', '• One: It works')
    await send(project, 'Two')
    await shows(page, '2', '• Two: It works', '• One: It works')
    await page.getByRole('button', { name: 'One' }).click()
    await shows(page, '1', '• Two: It works', 'One: It works')
    await page.reload()
    await shows(page, '1', '• Two: It works', 'One: It works')
    // A smaller limit drops the oldest.
    await page.evaluate('createInbox({ limit: 1 }).get()')
    await shows(page, '1', '• Two: It works')
    await page.evaluate(`tidings.linkUser('ana')`)
    await shows(page, '1', '• Two: It works')
    await page.evaluate('tidings.unlinkUser()')
    await shows(page, '0')
    assert.deepEqual(complaints, [])
  })

  it('the form of the guide shows and changes the topics of the user', async (t) => {
    const { project, page } = await openShop(t)
    for (const id of ['news', 'offers'])
      await service.manage('PUT', `/projects/${project.id}/topics/${id}`, { json: { name: id } })
    await page.evaluate(`tidings.linkUser('ana').then(() => import('/preferences.js'))
      .then(({ showTopics }) => showTopics(tidings, document.querySelector('form')))`)
    await page.getByLabel('offers').uncheck()
    await eventually(async () => {
      const { json } = await project.call('GET', '/api/v1/users/ana/preferences')
      assert.deepEqual(json.topics, { news: true, offers: false })
    })
  })

  it('a page calls the service with tidings/client and a public key, and reads why a call was refused', async (t) => {
    const { project, page } = await openShop(t)
    const settings = JSON.stringify({ url: service.url, projectId: project.id, publicKey: project.publicKey })
    const call = (code: string) =>
      page.evaluate(`(async (app) => { ${code} })(createPublicClient(${settings}))
        .catch(({ name, kind, status, code }) => ({ name, kind, status, code }))`)
    assert.equal(
      await call(`await app.devices.register([{ device_id: 'page-1', platform: 'WEB' }])
        await app.devices.logIn('page-1', 'ana')
        await app.devices.setUserProperties('page-1', { plan: 'premium' })
        await app.events.track([{ device_id: 'page-1', name: 'opened' }])
        return 'done'`),
      'done'
    )
    const { json } = await project.call('GET', '/api/v1/users/ana')
    assert.deepEqual(json.properties, { plan: 'premium' })
    const refused = (await call(`return app.devices.logIn('nothing', 'ana')`)) as Record<string, unknown>
    assert.deepEqual([refused.name, refused.status], ['TidingsError', 404])
    assert.equal(typeof refused.code, 'string')
  })

  it('a bundle holds only what it imports', async () => {
    const { 'error.js': error } = await bundle({ 'error.ts': `export { TidingsError } from 'tidings/browser'` })
    assert.match(error!, /TidingsError = class/)
    assert.doesNotMatch(error!, /BroadcastChannel|localStorage|fetch\(/)
    const { 'core.js': core } = await bundle({ 'core.ts': `export { createTidings } from 'tidings/browser'` })
    assert.doesNotMatch(core!, /function createInbox/)
  })

  it('a call to a service that does not respond fails in time, and says what happened', async (t) => {
    const { page, site } = await openShop(t)
    const fails = (url: string, more = '') =>
      page.evaluate(`createTidings({ baseUrl: '${url}', projectId: 'x', publicKey: 'svc_pk_x', timeoutMs: 800${more} })
        .preferences.get().catch(({ name, status, code, message }) => ({ name, status, code, message }))`)
    await page.route(`${site}/silent/**`, none)
    const name = 'TidingsError'
    assert.deepEqual(await fails(`${site}/silent`), {
      name,
      status: 0,
      code: 'timeout',
      message: `${site}/silent did not respond within 0.8 s. Try again later.`
    })
    const lost = (await fails('http://localhost:1')) as Record<string, unknown>
    assert.deepEqual([lost.status, lost.code], [0, 'unreachable'])
    assert.match(String(lost.message), /^http:\/\/localhost:1 cannot be reached: /)
    await page.route(`${site}/api/v1/devices`, (route) => route.fulfill({ json: {} }))
    const failing = (token: string) => fails(site, `, userToken: ${token}`)
    assert.deepEqual(await failing(`() => fetch('http://localhost:1')`), {
      name,
      status: 0,
      code: 'user_token_failed',
      message: 'userToken failed: Failed to fetch'
    })
    assert.equal(((await failing('() => new Promise(() => {})')) as { code: string }).code, 'timeout')
  })
})
