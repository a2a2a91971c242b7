import type { Command } from 'commander'
import type { AuditEntry } from '../../wire.ts'
import type { Columns } from '../listing.ts'
import { shortened, time } from '../output.ts'
import { pastTime } from '../past-time.ts'
import { resource } from '../resource.ts'
import { examples } from '../session.ts'
import type { Shell } from '../shell.ts'

interface Filter {
  actor?: string
  action?: string
  since?: string
}

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings audit list', 'tidings audit list -p shop'])
  resource(command, shell, { name: 'audit entry', path: '/audit' }).list<AuditEntry, Filter>({
    ...listed,
    about: 'List the changes in a project, with who made them',
    examples: ['tidings audit list --action campaign', 'tidings audit list -p shop --limit all --json']
  })
  const installation = { name: 'audit entry', path: '/audit', scope: 'installation' } as const
  resource(command, shell, installation).list<AuditEntry, Filter>({
    ...listed,
    usage: 'installation',
    about: 'List sign-ins and changes of the whole installation: members, tokens and projects',
    examples: ['tidings audit installation', 'tidings audit installation --action member.sign_in --since 7d']
  })
}

/** What both logs have in common. */
const listed = {
  usual: 100,
  options: (list: Command) =>
    list
      .option('--actor <actor>', 'Only changes of this author, as --json names it')
      .option('--action <action>', 'Only actions that begin with this: campaign, key.revoke')
      .option('--since <time>', 'Only changes since: 2h, 7d, or an RFC 3339 time', pastTime),
  query: ({ actor, action, since }: Filter) => ({ actor, action, from: since }),
  columns: [
    ['at', ({ at }) => time(at)],
    ['who', ({ actor, actor_name }) => actor_name ?? actor],
    ['did', ({ phrase }) => phrase],
    ['what', ({ target_name }) => target_name],
    ['details', ({ details }) => (Object.keys(details).length > 0 ? shortened(JSON.stringify(details), 60) : '')]
  ] satisfies Columns<AuditEntry>,
  none: 'No changes yet.'
}
