import { readdir, readFile } from 'node:fs/promises'
import { join, posix, relative, sep } from 'node:path'

const folder = join(import.meta.dirname, '../../../docs')

/** The kinds of pages, in the order in which a reader needs them. Decision records are for readers of the code. */
export const kinds = ['tutorials', 'guides', 'explanations', 'reference', 'decisions'] as const

export interface DocsPage {
  /** Below /docs/, without the extension; empty for the first page. */
  path: string
  /** Where its links start. */
  folder: string
  kind: string
  title: string
  markdown: string
}

export interface DocsFiles {
  pages: Map<string, DocsPage>
  /** The names of pictures below docs/, each with its file. */
  images: Map<string, string>
}

/** Everything that can be asked for. A request names a page of this list, never a file of the machine. */
export async function readDocs(): Promise<DocsFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
  const pages = await Promise.all(names.filter((name) => name.endsWith('.md')).map(readPage))
  const images = names.filter((name) => name.endsWith('.png'))
  return {
    pages: new Map(pages.map((page) => [page.path, page])),
    images: new Map(images.map((name) => [name, join(folder, name)]))
  }
}

async function readPage(name: string): Promise<DocsPage> {
  const markdown = await readFile(join(folder, name), 'utf8')
  const path = name.replace(/(^|\/)README\.md$|\.md$/, '')
  return {
    path,
    folder: posix.dirname(name),
    kind: path.split('/')[0]!,
    title: /^# (.+)$/m.exec(markdown)?.[1] ?? path,
    markdown
  }
}
