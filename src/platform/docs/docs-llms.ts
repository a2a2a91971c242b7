import type { DocsFiles } from './docs-files.ts'
import { plain } from './docs-markup.ts'
import type { NavGroup } from './docs-nav.ts'

const summary = `> Tidings is a self-hosted messaging and user service: users and their properties, devices, events, push notifications,
> Live Activities and campaigns, over REST, A2A and MCP. These are its docs; each link is a page as Markdown.`

/** The pages as a list of links to their Markdown, for /llms.txt. `base` ends with a slash. */
export const printDocsLinks = (nav: readonly NavGroup[], base: string): string =>
  nav
    .map(
      ({ title, entries }) =>
        `## ${title === 'Decisions' ? 'Optional' : title}\n\n${entries
          .map(
            ({ page, label, about }) => `- [${label}](${base}${page.path || 'index'}.md)${about && `: ${plain(about)}`}`
          )
          .join('\n')}\n`
    )
    .join('\n')

export const printDocsLlms = (nav: readonly NavGroup[], base: string): string =>
  `# Tidings docs\n\n${summary}\n\n[All pages in one file](${base}llms-full.txt), without the decision records.\n\n${printDocsLinks(nav, base)}`

/** All pages in one text. Decision records and the changelog stay out: they explain the past to readers of the code. */
export const printDocsLlmsFull = (files: DocsFiles, nav: readonly NavGroup[], base: string): string =>
  [
    `# Tidings docs\n\n${summary}\n`,
    ...[
      files.pages.get('')!,
      ...nav.filter(({ kind }) => kind !== 'decisions').flatMap(({ entries }) => entries.map(({ page }) => page))
    ]
      .filter(({ path }) => path !== 'changelog' && path !== 'decisions')
      .map(({ path, markdown }) => `<!-- ${base}${path || 'index'}.md -->\n\n${markdown}`)
  ].join('\n\n')
