import type { Command } from 'commander'
import { showList } from '../listing.ts'
import { time } from '../output.ts'
import { type Common, connect, examples, reaching } from '../session.ts'
import type { Shell } from '../shell.ts'

interface Node {
  id: string
  role: string
  /** Shown to editors and admins of the whole installation. */
  host?: string
  pid?: number
  version: string
  started_at: string
  seen_at: string
}

export function declare(command: Command, shell: Shell): void {
  reaching(command)
  examples(command, ['tidings nodes', "tidings nodes --json | jq '.items | length'"])
  command.action(async (options: Common) => {
    const session = await connect(shell, options)
    const { items } = await session.client.json<{ items: Node[] }>('GET', '/nodes')
    const columns = [
      ['host', (node: Node) => node.host ?? '-'],
      ['pid', (node: Node) => node.pid ?? '-'],
      ['role', (node: Node) => node.role],
      ['version', (node: Node) => node.version],
      ['started', (node: Node) => time(node.started_at)],
      ['seen', (node: Node) => time(node.seen_at)],
      ['id', (node: Node) => node.id]
    ] as const
    showList(session, { items, next_cursor: null }, columns, 'No process is at work.')
  })
}
