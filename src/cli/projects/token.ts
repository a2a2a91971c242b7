import type { Command } from 'commander'
import { segment } from '../client.ts'
import { usageFailure } from '../exit.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { record, time } from '../output.ts'
import { type Common, choice, connect, examples, reaching, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

interface Token {
  id: string
  name: string
  role: string
  project_id: string | null
  prefix: string
  created_at: string
  last_used_at: string | null
}

type Wish = Common & { role: string; allProjects?: true }

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings token create deploy --role editor --project shop', 'tidings token list'])
  const create = command.command('create <name>').description('Create a management token; its text is shown this once')
  const role = choice('--role <role>', 'viewer reads, editor also writes, admin also manages keys', [
    'admin',
    'editor',
    'viewer'
  ])
  create
    .addOption(role.makeOptionMandatory())
    .option('-p, --project <id>', 'The one project that the token is for')
    .option('--all-projects', 'For the whole installation')
  reaching(create)
  examples(create, [
    'tidings token create deploy --role editor --project shop',
    'tidings token create ops --role admin --all-projects --json | jq -r .token'
  ])
  create.action(async (name: string, options: Wish) => {
    // Never by default: a token for everything is handed out on purpose or not at all.
    if ((options.project === undefined) === (options.allProjects === undefined))
      throw usageFailure('Say what the token is for: either --project <id> or --all-projects.')
    const session = await connect(shell, options)
    const body = { name, role: options.role, ...(options.project !== undefined && { project_id: options.project }) }
    const token = await session.client.json<Token & { token: string }>('POST', '/tokens', { body })
    tell(
      session,
      token,
      record([
        ['Token', token.token],
        ['Role', token.role],
        ['Project', token.project_id ?? 'all'],
        ['Name', token.name],
        ['Id', token.id]
      ])
    )
    if (!session.json) remark(shell, '\nKeep the token now: it is not shown again.')
  })

  const list = command.command('list').description('List the management tokens, without their texts')
  reaching(listing(list))
  examples(list, ['tidings token list', 'tidings token list --json | jq \'.items[] | select(.role == "admin")\''])
  list.action(async (options: Common & ListOptions) => {
    const session = await connect(shell, options)
    const columns = [
      ['id', (token: Token) => token.id],
      ['name', (token: Token) => token.name],
      ['role', (token: Token) => token.role],
      ['project', (token: Token) => token.project_id ?? 'all'],
      ['token', (token: Token) => `${token.prefix}…`],
      ['created', (token: Token) => time(token.created_at)],
      ['last used', (token: Token) => time(token.last_used_at)]
    ] as const
    showList(session, await readAll<Token>(session, '/tokens', options), columns, 'There are no tokens.')
  })

  const revoke = command.command('revoke <id>').description('Revoke a management token: it stops working at once')
  reaching(revoke)
  examples(revoke, ['tidings token revoke 0199c0de-0000-7000-8000-000000000001'], '`tidings token list` shows the ids.')
  revoke.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    await session.client.send('DELETE', `/tokens/${segment(id)}`)
    tell(session, { revoked: id }, `Revoked the token ${id}.`)
  })
}
