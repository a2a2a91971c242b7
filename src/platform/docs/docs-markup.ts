import type { Marked, Token, Tokens } from 'marked'
import { type DocsFiles, type DocsPage, linked } from './docs-files.ts'

export interface Heading {
  id: string
  text: string
  depth: number
}

/** How a page is addressed: `/docs/` and no extension in the service, another base and `.html` on a static host. */
export interface Addresses {
  base: string
  suffix: string
}

type Parser = { parser: { parseInline(tokens: Token[]): string } }

/** The names that links in the Markdown use: `## What it costs` is `#what-it-costs`. */
const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

export const plain = (text: string) => text.replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')

/** Returns ids that are unique in a page, as hosts of Markdown make them: the second `example` is `example-1`. */
function counter(): (text: string) => string {
  const seen = new Map<string, number>()
  return (text) => {
    const slug = slugOf(plain(text))
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}

/** The parts of a page: each heading with the text below it. */
export function sectionsOf({ markdown }: DocsPage): (Heading & { body: string })[] {
  const idOf = counter()
  const sections: (Heading & { body: string })[] = []
  let inCode = false
  for (const line of markdown.split('\n')) {
    if (/^ *```/.test(line)) inCode = !inCode
    const heading = inCode ? null : /^(#{1,4}) (.+)$/.exec(line)
    if (heading) {
      const [, marks, text] = heading
      sections.push({ id: idOf(text!), text: plain(text!), depth: marks!.length, body: '' })
    } else if (sections.length > 0) sections.at(-1)!.body += `${line}\n`
  }
  return sections
}

export const pageAddress = ({ base, suffix }: Addresses, { path }: DocsPage): string =>
  path === '' ? base : `${base}${path}${suffix}`

/** The address of a link in a page; undefined for a file that is not served. */
export function addressOf(files: DocsFiles, at: Addresses, from: DocsPage, href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href
  const [file = '', hash] = href.split('#')
  const { page, other } = linked(files, from, file)
  if (other) return `${at.base}${other}`
  return page && `${pageAddress(at, page)}${hash === undefined ? '' : `#${hash}`}`
}

/** The body of a page. Our own Markdown is trusted; the policy of the page forbids scripts in it all the same. */
export function bodyOf(marked: typeof Marked, files: DocsFiles, at: Addresses, page: DocsPage): string {
  const idOf = counter()
  const address = (href: string) => addressOf(files, at, page, href)?.replaceAll('"', '%22')
  const renderer = {
    heading(this: Parser, { tokens, depth, text }: Tokens.Heading) {
      const id = idOf(text)
      const link = depth > 1 ? ` <a class="anchor" href="#${id}" aria-label="Link to this part">#</a>` : ''
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`
    },
    link(this: Parser, { href, tokens }: Tokens.Link) {
      const to = address(href)
      const words = this.parser.parseInline(tokens)
      return to === undefined ? words : `<a href="${to}">${words}</a>`
    },
    image({ href, text }: Tokens.Image) {
      const to = address(href)
      return to === undefined ? text : `<img src="${to}" alt="${text.replaceAll('"', '&quot;')}" loading="lazy">`
    }
  }
  const rendered = new marked({ renderer, gfm: true }).parse(page.markdown, { async: false }) as string
  return rendered
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">')
}
