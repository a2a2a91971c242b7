import type { Command } from 'commander'
import { parseDuration } from '../../platform/duration.ts'
import { readTime } from '../../platform/time.ts'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { usageFailure } from '../exit.ts'
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
  expires_at: string | null
}

type NewKey = Key & { key: string }

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings key create backend --kind secret',
    'tidings key list -p shop',
    'tidings key rotate 0199c0de-0000-7000-8000-000000000001 --overlap 24h'
  ])
  const create = command.command('create <name>').description('Create a key; its text is shown this once')
  const kind = choice('--kind <kind>', 'secret for servers, public for apps', ['secret', 'public'])
  create.addOption(kind.makeOptionMandatory())
  create.option('--expires <when>', expiresHelp)
  reaching(create, 'project')
  examples(create, [
    'tidings key create backend --kind secret',
    'tidings key create ci --kind secret --expires 90d',
    'tidings key create ios-app --kind public -p shop --json | jq -r .key'
  ])
  create.action(async (name: string, options: Common & { kind: string; expires?: string }) => {
    const expires_at = expiryOf(options.expires)
    const session = await connect(shell, options)
    const body = { kind: options.kind, name, ...(expires_at && { expires_at }) }
    const key = await session.client.json<NewKey>('POST', pathIn(projectOf(session.connection)), { body })
    tell(session, key, shown(key))
    if (!session.json) remark(shell, '\nKeep the key now: it is not shown again.')
  })

  const rotate = command.command('rotate <id>').description('Replace a key; the old one works until the overlap ends')
  rotate.option('--overlap <duration>', 'How long the old key goes on working: 15m, 24h, 7d, or 0s (default: 24h)')
  rotate.option('--expires <when>', `Of the new key. ${expiresHelp}`)
  reaching(rotate, 'project')
  examples(
    rotate,
    [
      'tidings key rotate 0199c0de-0000-7000-8000-000000000001',
      'tidings key rotate 0199c0de-0000-7000-8000-000000000001 --overlap 0s'
    ],
    `The new key has the kind and the name of the old one.
\`tidings key list\` shows the ids.`
  )
  rotate.action(async (id: string, options: Common & { overlap?: string; expires?: string }) => {
    const expires_at = expiryOf(options.expires)
    const session = await connect(shell, options)
    const body = {
      ...(options.overlap !== undefined && { overlap: options.overlap }),
      ...(expires_at && { expires_at })
    }
    const path = `${pathIn(projectOf(session.connection))}/${segment(id)}:rotate`
    const key = await session.client.json<NewKey & { replaces: { expires_at: string } }>('POST', path, { body })
    tell(session, key, shown(key))
    if (session.json) return
    const left = Date.parse(key.replaces.expires_at) > Date.now()
    const old = left
      ? `The old key works until ${time(key.replaces.expires_at)}.`
      : 'The old key is refused from now on.'
    remark(shell, `\nKeep the key now: it is not shown again. ${old}`)
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
      ['last used', (key: Key) => time(key.last_used_at)],
      ['expires', (key: Key) => expiry(key)]
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

const expiresHelp = 'When it stops working: a time such as 2027-01-31T00:00:00Z, or from now: 90d (default: never)'

const expiresRule =
  '--expires: must be a time such as 2027-01-31T00:00:00Z, or a duration from now such as 15m, 24h or 90d'

/** A duration from now, or the time itself. Only the service knows whether the time is in the future. */
function expiryOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined) return new Date(Date.now() + ms).toISOString()
  if (readTime(text) === undefined) throw usageFailure(`${expiresRule} (s, m, h, d, w; ten years at most).`)
  return text
}

const expiry = ({ expires_at: at }: Key): string =>
  at !== null && Date.parse(at) <= Date.now() ? `expired ${time(at)}` : time(at)

const shown = (key: NewKey): string =>
  record([
    ['Key', key.key],
    ['Kind', key.kind],
    ['Name', key.name],
    ['Id', key.id],
    ['Expires', expiry(key)]
  ])

const pathIn = (project: string) => `/projects/${segment(project)}/keys`
