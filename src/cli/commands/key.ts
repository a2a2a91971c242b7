import type { Command } from 'commander'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { record, time } from '../output.ts'
import { type Common, choice, connect, examples, reaching, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

interface Key {
  id: string
  kind: string
  name: string
  prefix: string
  created_at: string
  last_used_at: string | null
}

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings key create backend --kind secret', 'tidings key list -p shop'])
  const create = command.command('create <name>').description('Create a key; its text is shown this once')
  const kind = choice('--kind <kind>', 'secret for servers, public for apps', ['secret', 'public'])
  create.addOption(kind.makeOptionMandatory())
  reaching(create, 'project')
  examples(create, [
    'tidings key create backend --kind secret',
    'tidings key create ios-app --kind public -p shop --json | jq -r .key'
  ])
  create.action(async (name: string, options: Common & { kind: string }) => {
    const session = await connect(shell, options)
    const body = { kind: options.kind, name }
    const key = await session.client.json<Key & { key: string }>('POST', pathIn(projectOf(session.connection)), {
      body
    })
    tell(
      session,
      key,
      record([
        ['Key', key.key],
        ['Kind', key.kind],
        ['Name', key.name],
        ['Id', key.id]
      ])
    )
    if (!session.json) remark(shell, '\nKeep the key now: it is not shown again.')
  })

  const list = command.command('list').description('List the keys of a project, without their texts')
  reaching(listing(list), 'project')
  examples(list, ['tidings key list', 'tidings key list -p shop --json'])
  list.action(async (options: Common & ListOptions) => {
    const session = await connect(shell, options)
    const project = projectOf(session.connection)
    const columns = [
      ['id', (key: Key) => key.id],
      ['kind', (key: Key) => key.kind],
      ['name', (key: Key) => key.name],
      ['key', (key: Key) => `${key.prefix}…`],
      ['created', (key: Key) => time(key.created_at)],
      ['last used', (key: Key) => time(key.last_used_at)]
    ] as const
    showList(session, await readAll<Key>(session, pathIn(project), options), columns, `${project} has no keys.`)
  })

  const revoke = command.command('revoke <id>').description('Revoke a key: it stops working at once')
  reaching(revoke, 'project')
  examples(revoke, ['tidings key revoke 0199c0de-0000-7000-8000-000000000001'], '`tidings key list` shows the ids.')
  revoke.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    await session.client.send('DELETE', `${pathIn(projectOf(session.connection))}/${segment(id)}`)
    tell(session, { revoked: id }, `Revoked the key ${id}.`)
  })
}

const pathIn = (project: string) => `/projects/${segment(project)}/keys`
