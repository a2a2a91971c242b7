import { posix } from 'node:path'
import type { Marked, Tokens } from 'marked'
import type { DocsFiles, DocsPage } from './docs-files.ts'

export interface Heading {
  id: string
  text: string
}

/** The names that links in the Markdown use: `## What it costs` is `#what-it-costs`. */
const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const plain = (text: string) => text.replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')

export const headingsOf = ({ markdown }: DocsPage): Heading[] =>
  [...markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^##+ (.+)$/gm)].map(([, text]) => ({
    id: slugOf(plain(text!)),
    text: plain(text!)
  }))

/**
 * The address of a link in a page; undefined for a file that is not served, such as the source code. Markdown links to
 * files, and the service serves pages: `../guides/users.md#search` in a tutorial is `/docs/guides/users#search`.
 */
export function addressOf(files: DocsFiles, from: DocsPage, href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href
  const [file = '', hash] = href.split('#')
  const name = posix.join(from.folder, file)
  const page = name.replace(/(^|\/)README\.md$|\.md$/, '').replace(/\/$/, '')
  if (files.images.has(name)) return `/docs/${name}`
  if (!files.pages.has(page)) return undefined
  return `/docs/${page}${hash === undefined ? '' : `#${hash}`}`
}

/** The body of a page. Our own Markdown is trusted; the policy of the page forbids scripts all the same. */
export function bodyOf(marked: typeof Marked, files: DocsFiles, page: DocsPage): string {
  const renderer = {
    heading(
      this: { parser: { parseInline(tokens: Tokens.Generic[]): string } },
      { tokens, depth, text }: Tokens.Heading
    ) {
      return `<h${depth} id="${slugOf(plain(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link(this: { parser: { parseInline(tokens: Tokens.Generic[]): string } }, { href, tokens }: Tokens.Link) {
      const address = addressOf(files, page, href)
      const words = this.parser.parseInline(tokens)
      return address === undefined ? words : `<a href="${address.replaceAll('"', '%22')}">${words}</a>`
    },
    image({ href, text }: Tokens.Image) {
      const address = addressOf(files, page, href)
      return address === undefined
        ? text
        : `<img src="${address}" alt="${text.replaceAll('"', '&quot;')}" loading="lazy">`
    }
  }
  return new marked({ renderer, gfm: true }).parse(page.markdown, { async: false }) as string
}
