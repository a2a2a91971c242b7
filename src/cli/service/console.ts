import type { Command } from 'commander'
import { type Common, connect, examples, reaching, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

export function declare(command: Command, shell: Shell): void {
  reaching(command)
  examples(
    command,
    ['tidings console', 'tidings console --json | jq -r .url'],
    'The link carries the rights of the token. It works once, within 15 minutes.'
  )
  command.action(async (options: Common) => {
    const session = await connect(shell, options)
    const link = await session.client.json<{ path: string; expires_at: string }>('POST', '/sign-in-links')
    const url = session.connection.browserUrl + link.path
    tell(session, { url, expires_at: link.expires_at }, url)
    if (!session.json) remark(shell, '\nOpen it within 15 minutes. It works once.')
  })
}
