import type { Command } from 'commander'
import type { CreatedToken, Token } from '../../wire.ts'
import { usageFailure } from '../exit.ts'
import { record, time } from '../output.ts'
import { resource } from '../resource.ts'
import { type Common, choice, examples, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

interface CreateOptions {
  role: string
  project?: string
  allProjects?: true
}

const roles = ['admin', 'editor', 'viewer']

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings token create deploy --role editor --project shop', 'tidings token list'])
  const tokens = resource(command, shell, { name: 'token', path: '/tokens', scope: 'installation' })

  tokens.verb<CreateOptions>(
    {
      usage: 'create <name>',
      about: 'Create a management token; its text is shown only now',
      examples: [
        'tidings token create deploy --role editor --project shop',
        'tidings token create ops --role admin --all-projects --json | jq -r .token'
      ],
      options: (create) =>
        create
          .addOption(
            choice(
              '--role <role>',
              'viewer reads, editor also writes, admin also manages keys',
              roles
            ).makeOptionMandatory()
          )
          .option('-p, --project <id>', 'The one project that the token is for')
          .option('--all-projects', 'For the whole installation'),
      check: checkScope
    },
    async (session, { role, project }, name: string) => {
      const body = { name, role, ...(project !== undefined && { project_id: project }) }
      const token = await session.client.json<CreatedToken>('POST', tokens.at(session), { body })
      tell(session, token, shown(token))
      if (!session.json) remark(shell, '\nSave the token now: it is not shown again.')
    }
  )

  tokens.list<Token>({
    about: 'List the management tokens, without their texts',
    examples: ['tidings token list', 'tidings token list --json | jq \'.items[] | select(.role == "admin")\''],
    columns: [
      ['id', ({ id }) => id],
      ['name', ({ name }) => name],
      ['role', ({ role }) => role],
      ['project', ({ project_id }) => project_id ?? 'all'],
      ['token', ({ prefix }) => `${prefix}…`],
      ['created', (token) => time(token.created_at)],
      ['last used', (token) => time(token.last_used_at)]
    ],
    none: 'No tokens yet. Create one with `tidings token create <name> --role viewer -p <project>`.'
  })

  tokens.remove({
    usage: 'revoke <id>',
    about: 'Revoke a management token: it stops working at once',
    examples: ['tidings token revoke 0199c0de-0000-7000-8000-000000000001'],
    more: '`tidings token list` shows the ids.',
    done: 'revoked'
  })
}

/** A token for the whole installation is never the default: it must be asked for. */
function checkScope({ project, allProjects }: Common & CreateOptions): void {
  if ((project === undefined) === (allProjects === undefined))
    throw usageFailure('Choose what the token is for: either --project <id> or --all-projects.')
}

const shown = (token: CreatedToken): string =>
  record([
    ['Token', token.token],
    ['Role', token.role],
    ['Project', token.project_id ?? 'all'],
    ['Name', token.name],
    ['Id', token.id]
  ])
