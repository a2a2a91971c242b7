import { createHash } from 'node:crypto'
import type { Marked } from 'marked'
import { html } from '../http/openapi/html.ts'
import type { DocsFiles, DocsPage } from './docs-files.ts'
import { type Addresses, bodyOf, pageAddress } from './docs-markup.ts'

interface Entry {
  title: string
  /** The heading in the page of the changelog. */
  id: string
  updated: string
  markdown: string
}

/**
 * The changelog as an Atom feed: an entry for each release, and one for each part of what is not released yet, so that
 * a reader sees new parts as they come. `## 1.2.3 (2026-12-31)` has its date; unreleased parts have that of the file.
 */
export function changelogFeed(marked: typeof Marked, files: DocsFiles, at: Addresses, origin: string): string {
  const page = files.pages.get('changelog')!
  const address = `${origin}${pageAddress(at, page)}`
  const entries = entriesOf(page, files.changedAt.toISOString())
  const updated = entries.map((entry) => entry.updated).reduce((one, other) => (one > other ? one : other))
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<title>Tidings: changelog</title>
<id>${idOf('changelog')}</id>
<updated>${updated}</updated>
<author><name>Tidings</name></author>
<link rel="self" type="application/atom+xml" href="${origin}${at.base}changelog.xml"/>
<link rel="alternate" type="text/html" href="${address}"/>
${entries.map(
  (entry) => html`<entry>
<title>${entry.title}</title>
<id>${idOf(entry.title)}</id>
<updated>${entry.updated}</updated>
<link rel="alternate" type="text/html" href="${address}#${entry.id}"/>
<content type="html">${absolute(bodyOf(marked, files, at, { ...page, markdown: entry.markdown }), origin)}</content>
</entry>
`
)}</feed>
`.markup
}

function entriesOf({ markdown }: DocsPage, changedAt: string): Entry[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .flatMap((release) => {
      const [heading = '', ...lines] = release.split('\n')
      const date = /\((\d{4}-\d{2}-\d{2})\)/.exec(heading)?.[1]
      const version = heading.replace(/\s*\(.*/, '')
      const body = lines.join('\n')
      if (date) return [{ title: version, id: anchor(heading), updated: `${date}T00:00:00.000Z`, markdown: body }]
      return body
        .split(/^### /m)
        .slice(1)
        .map((part) => {
          const [name = '', ...rest] = part.split('\n')
          return { title: `${version}: ${name}`, id: anchor(name), updated: changedAt, markdown: rest.join('\n') }
        })
    })
}

const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** A UUID of the name, so that an entry keeps its id wherever the feed is served. */
function idOf(name: string): string {
  const hash = createHash('sha256').update(`tidings changelog ${name}`).digest('hex')
  return `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** Readers of feeds show the content on pages of their own. */
const absolute = (markup: string, origin: string) => markup.replace(/ (href|src)="\//g, ` $1="${origin}/`)
