import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, posix, relative, sep } from 'node:path'

const root = join(import.meta.dirname, '../../..')
/** Pages beside docs/. A package contains only some of them; links to the others become plain words. */
const besides = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']

export interface DocsPage {
  /** Below /docs/, without the extension; empty for the first page. */
  path: string
  /** Its file in the project, with slashes: its links start there. */
  file: string
  title: string
  markdown: string
}

export interface DocsFiles {
  pages: Map<string, DocsPage>
  byFile: Map<string, DocsPage>
  /** Pictures and schemas below docs/ by the name under which they are served, each with its file. */
  others: Map<string, string>
  changedAt: Date
}

/** Everything that can be asked for. A request names an entry of these maps, never a file of the machine. */
export async function readDocs(): Promise<DocsFiles> {
  const folder = join(root, 'docs')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
  const present = (await readdir(root)).filter((name) => besides.includes(name))
  const pages = await Promise.all([...names, ...present].filter((name) => name.endsWith('.md')).map(readPage))
  return {
    pages: new Map(pages.map((page) => [page.path, page])),
    byFile: new Map(pages.map((page) => [page.file, page])),
    others: new Map(
      names.filter((name) => /\.(png|json)$/.test(name)).map((name) => [name.slice(5), join(root, name)])
    ),
    changedAt: (await stat(join(root, 'CHANGELOG.md'))).mtime
  }
}

async function readPage(file: string): Promise<DocsPage> {
  const markdown = await readFile(join(root, file), 'utf8')
  const path = pathOf(file)
  return { path, file, title: /^# (.+)$/m.exec(markdown)?.[1] ?? path, markdown }
}

/** `docs/decisions/README.md` is `decisions`, and `CHANGELOG.md` is `changelog`. */
function pathOf(file: string): string {
  if (dirname(file) === '.') return file.slice(0, -3).toLowerCase()
  return file.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, '')
}

/**
 * The path below /docs/ that a link in a page leads to; undefined for a file that is not served, such as the source code.
 * Markdown links to files, and the site serves pages: `../guides/users.md` in a tutorial is `guides/users`.
 */
export function linked(files: DocsFiles, from: DocsPage, file: string): { page?: DocsPage; other?: string } {
  const name = file === '' ? from.file : posix.join(posix.dirname(from.file), file)
  const page = files.byFile.get(name)
  const other = name.slice('docs/'.length)
  return { ...(page && { page }), ...(files.others.has(other) && name.startsWith('docs/') && { other }) }
}
