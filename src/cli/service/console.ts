import type { Command } from 'commander'
import { type Common, connect, examples, reaching, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

export function declare(command: Command, shell: Shell): void {
  reaching(command)
  examples(
    command,
    ['tidings console', 'tidings console --json | jq -r .url'],
    'Who opens the link may do what the token may. It works once, for 15 minutes.'
  )
  command.action(async (options: Common) => {
    const session = await connect(shell, options)
    const link = await session.client.json<{ path: string; expires_at: string }>('POST', '/sign-in-links')
    const url = session.connection.browserUrl + link.path
    tell(session, { url, expires_at: link.expires_at }, url)
    if (!session.json) remark(shell, '\nIt signs a browser in once, within 15 minutes.')
  })
}
