import type { DocsFiles } from './docs-files.ts'
import { plain, sectionsOf } from './docs-markup.ts'
import { kindOf, type NavGroup } from './docs-nav.ts'

/** The browser reads the index with the options that it was built with, so they travel together. */
const options = { fields: ['title', 'heading', 'text'], storeFields: ['title', 'heading', 'about', 'weight'] }

/** Records explain choices to readers of the code, and references repeat words by the dozen: guides come first. */
const weights: Record<string, number> = { tutorials: 1.2, guides: 1.2, decisions: 0.5 }

/**
 * The index of all sections as JSON, for the search in the browser. It is built in small parts, because the process that
 * builds it serves requests meanwhile.
 */
export async function searchIndex(files: DocsFiles, nav: readonly NavGroup[]): Promise<string> {
  const { default: MiniSearch } = await import('minisearch')
  const index = new MiniSearch(options)
  const sections = [...files.pages.values()].flatMap((page) =>
    sectionsOf(page).map(({ id, text, depth, body }) => ({
      id: depth === 1 ? page.path : `${page.path}#${id}`,
      title: page.title,
      heading: depth === 1 ? '' : text,
      text: body.slice(0, 20_000),
      about: excerptOf(body),
      weight: weights[kindOf(nav, page)] ?? 1
    }))
  )
  await index.addAllAsync(sections, { chunkSize: 10 })
  return JSON.stringify({ options, index })
}

/** The first words of a section, without code and tables. */
function excerptOf(body: string): string {
  const paragraph = body
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .split(/\n\s*\n/)
    .find((part) => /^[\p{L}\p{N}"`*[]/u.test(part.trim()))
  const words = plain(paragraph ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  return words.length <= 110 ? words : `${words.slice(0, 110).replace(/\s\S*$/, '')} …`
}
