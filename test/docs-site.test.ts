import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import MiniSearch from 'minisearch'
import { root, temporaryFolder } from './support/program.ts'
import { startService } from './support/service.ts'

const service = await startService()

/** Pages come as they are: compressing all of them takes most of a second. */
const get = async (path: string, headers: Record<string, string> = { 'accept-encoding': 'identity' }) => {
  const response = await fetch(`${service.url}${path}`, { redirect: 'manual', headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The addresses in a page, without those of other sites and those that the page of the API and the console have. */
const addressesIn = (text: string) =>
  [...text.matchAll(/ (?:href|src)="([^"]+)"/g)]
    .map(([, address]) => address!.replaceAll('&amp;', '&'))
    .filter((address) => !/^https?:|^\/docs\/api$|^\/console\/$/.test(address))

/** Links that lead nowhere. `has` says whether a path is there, and its text where it is a page. */
function broken(pages: Map<string, string>, others: ReadonlySet<string>): string[] {
  return [...pages].flatMap(([from, text]) =>
    addressesIn(text).flatMap((address) => {
      const [path, hash] = (address.startsWith('#') ? from + address : address).split('#') as [string, string?]
      const plain = path.replace(/\?.*/, '')
      const page = pages.get(plain)
      const isThere = page === undefined ? others.has(plain) : hash === undefined || page.includes(`id="${hash}"`)
      return isThere ? [] : [`${from} → ${address}`]
    })
  )
}

describe('the docs of the service', () => {
  it('have a page for each file, and each link and picture in them leads somewhere', async () => {
    const { pages } = JSON.parse((await get('/docs/index.json')).text) as {
      pages: { path: string; title: string; kind: string; headings: { id: string }[] }[]
    }
    assert.ok(pages.length > 60 && pages.some(({ path, kind }) => path === 'guides/console' && kind === 'guides'))
    const texts = new Map<string, string>()
    for (const { path, title, headings } of pages) {
      const page = await get(`/docs/${path}`)
      assert.equal(page.status, 200, path)
      assert.ok(page.text.includes('<h1') && title.length > 1, path)
      for (const { id } of headings) assert.ok(page.text.includes(`id="${id}"`), `${path}#${id}`)
      assert.equal(
        page.text.split(' aria-current="page"').length,
        path === '' ? 1 : 2,
        `${path} is in the contents once`
      )
      texts.set(`/docs/${path}`, page.text)
    }
    const others = new Map<string, string>()
    for (const address of [...texts.values()].flatMap(addressesIn).map((one) => one.replace(/[?#].*/, '')))
      if (address !== '' && !texts.has(address) && !others.has(address)) {
        const { status, headers } = await get(address)
        if (status === 200) others.set(address, headers.get('content-type')!)
      }
    assert.deepEqual(broken(texts, new Set(others.keys())), [])
    for (const [address, type] of others) if (address.endsWith('.png')) assert.equal(type, 'image/png', address)
  })

  it('load nothing from other hosts, and no script or style that stands in a page', async () => {
    const { headers, text } = await get('/docs/readme')
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    assert.ok(!/unsafe|https?:/.test(policy))
    assert.deepEqual(text.match(/<style|<script>|style="|onclick/g), null)
    assert.match(text, /<img src="\/docs\/images\/lab\.png"/)
  })

  it('are revalidated, and their style and script are kept until they change', async () => {
    const page = await get('/docs/guides/users')
    assert.equal(page.headers.get('cache-control'), 'private, no-cache')
    const again = await get('/docs/guides/users', { 'if-none-match': page.headers.get('etag')! })
    assert.deepEqual([again.status, again.text], [304, ''])
    const [style] = /\/docs\/assets\/site\.css\?v=\w+/.exec(page.text)!
    assert.match((await get(style)).headers.get('cache-control')!, /immutable/)
    assert.equal((await get(style.replace(/\w+$/, 'older'))).headers.get('cache-control'), 'private, no-cache')
    for (const encoding of ['br', 'gzip'])
      assert.equal((await get('/docs/', { 'accept-encoding': encoding })).headers.get('content-encoding'), encoding)
  })

  it('are at the addresses of earlier versions too', async () => {
    assert.equal((await get('/docs')).headers.get('location'), '/docs/')
    assert.equal((await get('/docs/api')).status, 200)
    assert.match((await get('/docs/guides/users.md')).text, /^# Users/)
    assert.equal((await get('/docs/guides/users/')).status, 200)
  })

  it('a path that names no page gets 404, also one that climbs out of the folder', async () => {
    for (const path of [
      'nothing',
      '%2e%2e/package.json',
      '..%2fpackage.json',
      'guides',
      'campaign.schema.json',
      '__proto__'
    ])
      assert.equal((await get(`/docs/${path}`)).status, 404, path)
    const page = await get('/docs/nothing', { accept: 'text/html' })
    assert.deepEqual([page.status, page.text.includes('There is no such page')], [404, true])
  })

  it('are searched with an index that knows words, beginnings and mistyped words', async () => {
    const { options, index } = JSON.parse((await get('/docs/search.json')).text)
    const search = MiniSearch.loadJS<{ id: string }>(index, options)
    const found = (words: string, more = {}) =>
      search.search(words, { combineWith: 'AND', ...more }).map(({ id }) => id)
    assert.ok(found('quiet hours').some((id) => id.startsWith('guides/preferences')))
    assert.ok(found('idempot', { prefix: true }).includes('contract#a3-idempotency'))
    assert.ok(found('idempotancy', { fuzzy: 0.2 }).includes('contract#a3-idempotency'))
  })

  it('are listed for language models with links that lead to Markdown, and are there in one file', async () => {
    const { text } = await get('/llms.txt')
    const links = [...text.matchAll(/\((http[^)]+\.md)\)/g)].map(([, link]) => new URL(link!))
    assert.ok(links.length > 60)
    for (const { pathname } of links)
      assert.match((await get(pathname)).headers.get('content-type')!, /^text\/markdown/)
    const whole = await get('/llms-full.txt')
    assert.equal(whole.text, (await get('/docs/llms-full.txt')).text)
    for (const part of ['\n# Users\n', '\n# Self-hosting\n', `${service.url}/docs/guides/users.md`])
      assert.ok(whole.text.includes(part), part)
  })

  it('have the changelog as an Atom feed with an entry for each part', async () => {
    const { text, headers } = await get('/docs/changelog.xml')
    assert.match(headers.get('content-type')!, /^application\/atom\+xml/)
    const page = await get('/docs/changelog')
    const entries = text.split('<entry>').slice(1)
    assert.ok(entries.length > 3)
    const ids = new Set(entries.map((entry) => /<id>(urn:uuid:[0-9a-f-]{36})<\/id>/.exec(entry)![1]))
    assert.equal(ids.size, entries.length)
    for (const entry of entries) {
      assert.match(entry, /<updated>\d{4}-\d\d-\d\dT[\d:.]+Z<\/updated>/)
      const [, anchor] = new RegExp(
        `<link rel="alternate" type="text/html" href="${service.url}/docs/changelog#([^"]+)"`
      ).exec(entry)!
      assert.ok(page.text.includes(`id="${anchor}"`), anchor)
      assert.ok(!/href=&quot;(?!http)/.test(entry), 'readers of feeds need whole addresses')
    }
    assert.equal(text.match(/<(\w+)[ >]/g)!.length - text.match(/\/>/g)!.length, text.match(/<\/\w+>/g)!.length)
  })
})

it('npm run docs:site writes the same pages for another host and path, with links that lead somewhere', async (t) => {
  const out = join(await temporaryFolder(t), 'site')
  const args = [
    'scripts/docs-site.ts',
    '--out',
    out,
    '--url',
    'https://docs.example.com/tidings/',
    '--service',
    service.url
  ]
  await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 60_000 })
  const names = (await readdir(out, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
  const pages = new Map<string, string>()
  for (const name of names.filter((one) => one.endsWith('.html') && one !== 'api.html'))
    pages.set(`/tidings/${name}`, await readFile(join(out, name), 'utf8'))
  pages.set('/tidings/', pages.get('/tidings/index.html')!)
  assert.deepEqual(broken(pages, new Set(names.map((name) => `/tidings/${name}`))), [])
  assert.match(
    await readFile(join(out, 'changelog.xml'), 'utf8'),
    /href="https:\/\/docs\.example\.com\/tidings\/changelog\.html#/
  )
  const again = promisify(execFile)(process.execPath, args, { cwd: root, timeout: 60_000 })
  await assert.rejects(again, /site is not empty\./)
})
