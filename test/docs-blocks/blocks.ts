import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

export interface Block {
  page: string
  line: number
  language: string
  code: string
}

/** Every fenced block of every page, without the indentation of the list that it may stand in. */
export const blocks: Block[] = globSync(
  ['*.md', 'docs/**/*.md', 'deploy/**/*.md', 'clients/**/*.md', 'bench/**/*.md'],
  {
    cwd: root
  }
)
  .sort()
  .flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(
      ({ index, 1: indent, 2: language, 3: code }) => ({
        page,
        line: text.slice(0, index).split('\n').length,
        language: language!,
        code: code!.replace(new RegExp(`^${indent}`, 'gm'), '')
      })
    )
  })

/** Pages whose commands and requests other tests run from the first line to the last, in order. */
export const runElsewhere: Record<string, string> = {
  'docs/tutorials/first-push.md': 'test/docs-tutorials.test.ts',
  'docs/tutorials/first-campaign.md': 'test/docs-tutorials.test.ts',
  'docs/tutorials/welcome-series.md': 'test/docs-tutorials.test.ts',
  'docs/tutorials/price-alert.md': 'test/docs-tutorials.test.ts',
  'docs/tutorials/weekly-digest.md': 'test/docs-tutorials.test.ts',
  'docs/tutorials/live-match.md': 'test/docs-tutorials.test.ts',
  'docs/tutorials/agent.md': 'test/a2a/docs-life.test.ts',
  'docs/guides/agents.md': 'test/a2a/docs-lines.test.ts',
  'docs/guides/mcp.md': 'test/mcp/docs.test.ts',
  'docs/guides/web-push.md': 'test/browser/client.browser.ts'
}

/** Languages that this suite does not read, each with its reason. */
export const unread: Record<string, string> = {
  '': 'the output of a command',
  text: 'the output of a command, or a drawing',
  diff: 'the output of a command',
  swift: 'needs Apple’s SDK; test/clients/mobile.test.ts checks its paths and fields',
  kotlin:
    'npm run test:kotlin compiles the client that it uses; test/clients/mobile.test.ts checks its paths and fields',
  dart: 'needs Flutter; test/clients/mobile.test.ts checks its paths and fields',
  sql: 'calls functions of Citus; npm run test:citus calls them'
}
