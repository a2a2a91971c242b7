import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { changelogFeed } from './docs-feed.ts'
import { type DocsFiles, readDocs } from './docs-files.ts'
import { printDocsLlms, printDocsLlmsFull } from './docs-llms.ts'
import { type Addresses, bodyOf } from './docs-markup.ts'
import { type NavGroup, navOf } from './docs-nav.ts'
import { type Frame, missingPage, pageOf } from './docs-page.ts'
import { searchIndex } from './docs-search.ts'

/** Stands for the address of the site in files that need a whole one; each response replaces it by what was asked for. */
export const anyOrigin = 'http://address.invalid'

/** Allows nothing from other hosts, and no script or style in a page itself. */
export const sitePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'"
]

export interface SiteFile {
  type: string
  body: string | Buffer
}

export interface SiteOptions extends Addresses, Pick<Frame, 'api' | 'console' | 'policy'> {}

export interface Site {
  docs: DocsFiles
  nav: NavGroup[]
  /** The names of all files below the base. A page of the service has no extension, one of a static site has `.html`. */
  names(): string[]
  /** Made at the first request for it, and kept. */
  file(name: string): Promise<SiteFile | undefined>
  missing: string
  /** The hash in the addresses of the style and the script: such an address can be cached for ever. */
  versions: ReadonlySet<string>
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/atom+xml; charset=utf-8'
}

/** The docs as a site: the service serves its files as they are asked for, and `npm run docs:site` writes them all. */
export async function createSite(options: SiteOptions): Promise<Site> {
  const docs = await readDocs()
  const nav = navOf(docs)
  const assets = await readAssets()
  const hashOf = (name: string) => createHash('sha256').update(assets.get(name)!).digest('hex').slice(0, 12)
  const addressOf = (name: string) => `${options.base}${name}?v=${hashOf(name)}`
  const frame: Frame = {
    ...options,
    ...{ at: options, nav },
    assets: {
      style: addressOf('assets/site.css'),
      script: addressOf('assets/site.js'),
      library: addressOf('assets/minisearch.js')
    }
  }
  const makers = makersOf(docs, nav, frame, assets)
  const made = new Map<string, Promise<SiteFile>>()
  return {
    ...{ docs, nav },
    names: () => [...makers.keys()],
    file: async (name) => {
      const make = makers.get(name)
      if (!make) return undefined
      const type = types[extname(name)] ?? types['.html']!
      const file = made.get(name) ?? make().then((body) => ({ type, body }))
      // A picture is read from the disk each time: all of them are larger than the rest of the process.
      if (!docs.others.has(name)) made.set(name, file)
      return file
    },
    missing: missingPage(frame),
    versions: new Set([...assets.keys()].map(hashOf))
  }
}

type Maker = () => Promise<string | Buffer>

function makersOf(docs: DocsFiles, nav: NavGroup[], frame: Frame, assets: Map<string, string>): Map<string, Maker> {
  const { base, suffix } = frame.at
  const whole = `${anyOrigin}${base}`
  const makers = new Map<string, Maker>([
    ['search.json', () => searchIndex(docs, nav)],
    ['changelog.xml', async () => changelogFeed((await import('marked')).Marked, docs, frame.at, anyOrigin)],
    ['llms.txt', async () => printDocsLlms(nav, whole)],
    ['llms-full.txt', async () => printDocsLlmsFull(docs, nav, whole)]
  ])
  for (const [name, text] of assets) makers.set(name, async () => text)
  for (const [name, path] of docs.others) makers.set(name, () => readFile(path))
  for (const page of docs.pages.values()) {
    makers.set(`${page.path || 'index'}.md`, async () => page.markdown)
    makers.set(page.path === '' && suffix ? `index${suffix}` : `${page.path}${suffix}`, async () => {
      const { Marked } = await import('marked')
      return pageOf(frame, page, bodyOf(Marked, docs, frame.at, page))
    })
  }
  return makers
}

async function readAssets(): Promise<Map<string, string>> {
  const folder = join(import.meta.dirname, 'assets')
  return new Map([
    ['assets/site.css', await readFile(join(folder, 'site.css'), 'utf8')],
    ['assets/site.js', await readFile(join(folder, 'site.js'), 'utf8')],
    ['assets/icon.svg', await readFile(join(folder, 'icon.svg'), 'utf8')],
    ['assets/minisearch.js', await readFile(fileURLToPath(import.meta.resolve('minisearch')), 'utf8')]
  ])
}
