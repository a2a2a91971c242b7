import { type DocsFiles, type DocsPage, linked } from './docs-files.ts'

export interface NavGroup {
  kind: string
  title: string
  entries: { page: DocsPage; label: string; about: string }[]
}

/**
 * The groups of pages in the order of docs/README.md, which a reader of the files sees: each link in it is an entry, its
 * text the label, and the rest of its line says what the page is about. Decision records follow in a group of their own.
 */
export function navOf(files: DocsFiles): NavGroup[] {
  const first = files.pages.get('')!
  const seen = new Set<DocsPage>([first])
  const take = (page: DocsPage | undefined) => page !== undefined && !seen.has(page) && seen.add(page) !== undefined
  const groups = first.markdown
    .split(/^## /m)
    .slice(1)
    .map((section): NavGroup => {
      const title = /^\w+/.exec(section)![0]
      const entries = section.split('\n').flatMap((line) =>
        [...line.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].flatMap(([, label, href]) => {
          const { page } = linked(files, first, href!)
          return take(page) ? [{ page: page!, label: capital(label!), about: aboutOf(line) }] : []
        })
      )
      return { kind: title.toLowerCase(), title, entries }
    })
  const records = [...files.pages.values()].filter(({ path }) => path.startsWith('decisions/'))
  const decisions = records.map((page) => ({ page, label: page.title, about: '' }))
  return [...groups, { kind: 'decisions', title: 'Decisions', entries: decisions }]
}

/** The kind of a page is the group that lists it. The first page has none; others that no group lists are reference. */
export function kindOf(nav: readonly NavGroup[], page: DocsPage): string {
  if (page.path === '') return ''
  return nav.find(({ entries }) => entries.some((entry) => entry.page === page))?.kind ?? 'reference'
}

/** Leaves names such as iOS as they are. */
const capital = (text: string) => (/^.[A-Z]/.test(text) ? text : text[0]!.toUpperCase() + text.slice(1))

/** The words of a line after its links: the second cell of a table, or what follows the colon of a list. */
function aboutOf(line: string): string {
  const cell = /^\|.*\| (.+) \|$/.exec(line)?.[1]
  return cell ?? /\)(?::|,) (.+)$/.exec(line)?.[1] ?? ''
}
