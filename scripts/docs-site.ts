// Writes the docs as a static site: `npm run docs:site -- --out site --url https://docs.example.com/tidings/`.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { anyOrigin, createSite, sitePolicy } from '../src/platform/docs/docs-site.ts'

const usage = `Usage: npm run docs:site -- [--out <folder>] [--url <address>] [--service <address>]

  --out      the folder, which must be empty or absent (default: site)
  --url      where the site will be, with its path (default: http://localhost/)
  --service  a running service of this version, for the page of the API`

/** Files of a site with the address that it will have. A host needs to know nothing but the folder. */
async function writeSite(out: string, url: URL, service: string | undefined): Promise<number> {
  const base = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`
  const site = await createSite({
    ...{ base, suffix: '.html', policy: sitePolicy.join('; ') },
    ...(service !== undefined && { api: `${base}api.html` })
  })
  const files = new Map<string, string | Buffer>([['404.html', site.missing]])
  for (const name of site.names()) {
    const { body } = (await site.file(name))!
    files.set(name, typeof body === 'string' ? body.replaceAll(anyOrigin, url.origin) : body)
  }
  if (service !== undefined) {
    files.set('openapi.json', await fetched(`${service}/openapi.json`))
    files.set('api.html', (await fetched(`${service}/docs/api`)).replaceAll('"/openapi.json"', `"${base}openapi.json"`))
  }
  for (const [name, body] of files) {
    await mkdir(dirname(join(out, name)), { recursive: true })
    await writeFile(join(out, name), body)
  }
  return files.size
}

async function fetched(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(10_000) })
  if (!response.ok) throw new Error(`${address} responded ${response.status}.`)
  return response.text()
}

try {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      url: { type: 'string' },
      service: { type: 'string' },
      help: { type: 'boolean' }
    }
  })
  if (values.help) console.log(usage)
  else {
    const out = resolve(values.out ?? 'site')
    const url = URL.parse(values.url ?? 'http://localhost/')
    if (!url || !/^https?:$/.test(url.protocol))
      throw new Error(`--url must be an address such as https://example.com/.`)
    if ((await readdir(out).catch(() => [])).length > 0) throw new Error(`${out} is not empty.`)
    console.log(`${out}: ${await writeSite(out, url, values.service?.replace(/\/$/, ''))} files`)
  }
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exitCode = 1
}
