import type { Command } from 'commander'
import type { Node } from '../../wire.ts'
import { showList } from '../listing.ts'
import { time } from '../output.ts'
import { type Common, connect, examples, reaching } from '../session.ts'
import type { Shell } from '../shell.ts'

export function declare(command: Command, shell: Shell): void {
  reaching(command)
  examples(command, ['tidings nodes', "tidings nodes --json | jq '.items | length'"])
  command.action(async (options: Common) => {
    const session = await connect(shell, options)
    const { items } = await session.client.json<{ items: Node[] }>('GET', '/nodes')
    showList<Node>(
      session,
      { items, next_cursor: null },
      [
        ['host', ({ host }) => host],
        ['pid', ({ pid }) => pid],
        ['role', ({ role }) => role],
        ['version', ({ version }) => version],
        ['started', (node) => time(node.started_at)],
        ['seen', (node) => time(node.seen_at)],
        ['id', ({ id }) => id]
      ],
      'No node is running.'
    )
  })
}
