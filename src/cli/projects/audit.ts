import type { Command } from 'commander'
import type { AuditEntry } from '../../wire.ts'
import { shortened, time } from '../output.ts'
import { resource } from '../resource.ts'
import { examples } from '../session.ts'
import type { Shell } from '../shell.ts'

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings audit list', 'tidings audit list -p shop'])
  resource(command, shell, { name: 'audit entry', path: '/audit' }).list<AuditEntry>({
    about: 'List the changes in a project, with who made them',
    examples: ['tidings audit list', 'tidings audit list -p shop --limit all --json'],
    usual: 100,
    columns: [
      ['at', ({ at }) => time(at)],
      ['actor', ({ actor }) => actor],
      ['action', ({ action }) => action],
      ['target', ({ target }) => target],
      ['details', ({ details }) => (Object.keys(details).length > 0 ? shortened(JSON.stringify(details), 60) : '')]
    ],
    none: 'No changes yet.'
  })
}
