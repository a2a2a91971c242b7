import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The pages of the docs that help an agent. They are part of the package. */
export const docsPages = [
  { name: 'agents', title: 'Agents: how they act and what they may', path: 'guides/agents.md' },
  { name: 'mcp', title: 'MCP: tools, confirmations and approvals', path: 'guides/mcp.md' },
  { name: 'campaigns', title: 'Campaigns: how they are written, triggered and followed', path: 'guides/campaigns.md' },
  { name: 'skills', title: 'Skills with their fields and results', path: 'reference/agent-skills.md' },
  { name: 'segments', title: 'Segments: the language of conditions', path: 'reference/segments.md' },
  { name: 'templates', title: 'Templates: texts with placeholders', path: 'reference/templates.md' },
  { name: 'errors', title: 'Error codes', path: 'reference/errors.md' }
] as const

const folder = join(import.meta.dirname, '../../docs')

export async function readDocsPage(name: string): Promise<{ mimeType: string; text: string } | undefined> {
  const page = docsPages.find((one) => one.name === name)
  return page && { mimeType: 'text/markdown', text: await readFile(join(folder, page.path), 'utf8') }
}
