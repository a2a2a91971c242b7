import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startService } from './support/service.ts'

const service = await startService()

const get = async (path: string) => {
  const response = await fetch(`${service.url}${path}`, { redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

it('the service serves its docs, and each link and picture in them leads somewhere', async () => {
  const { pages } = JSON.parse((await get('/docs/index.json')).text) as {
    pages: { path: string; title: string; headings: { id: string }[] }[]
  }
  assert.ok(pages.length > 60 && pages.some(({ path }) => path === 'guides/console'))
  const texts = new Map<string, string>()
  for (const { path, title, headings } of pages) {
    const page = await get(`/docs/${path}`)
    assert.equal(page.status, 200, path)
    assert.ok(page.text.includes('<h1') && title.length > 1, path)
    for (const { id } of headings) assert.ok(page.text.includes(`id="${id}"`), `${path}#${id}`)
    texts.set(`/docs/${path}`, page.text)
  }
  const broken: string[] = []
  const pictures = new Set<string>()
  for (const [from, text] of texts) {
    for (const [, address] of text.matchAll(/<a href="([^"]+)"/g)) {
      const [path, hash] = (address!.startsWith('#') ? from + address : address!).split('#')
      if (/^https?:|^\/docs\/api|^\/console/.test(path!)) continue
      if (pictures.has(path!) || path!.endsWith('.png')) pictures.add(path!)
      else if (!texts.has(path!) || (hash && !texts.get(path!)!.includes(`id="${hash}"`)))
        broken.push(`${from} → ${address}`)
    }
    for (const [, address] of text.matchAll(/<img src="([^"]+)"/g)) pictures.add(address!)
  }
  assert.deepEqual(broken, [])
  for (const picture of pictures) assert.equal((await get(picture)).headers.get('content-type'), 'image/png', picture)
})

it('a path that names no page of the docs gets 404, also one that climbs out of the folder', async () => {
  for (const path of [
    '/docs/nothing',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/guides',
    '/docs/campaign.schema.json'
  ])
    assert.equal((await get(path)).status, 404, path)
  assert.equal((await get('/docs')).headers.get('location'), '/docs/')
  assert.equal((await get('/docs/api')).status, 200)
  assert.match((await get('/docs/')).headers.get('content-security-policy') ?? '', /default-src 'none'/)
})
