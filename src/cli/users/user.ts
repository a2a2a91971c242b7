import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { segment } from '../client.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { printable, record, shortened, time } from '../output.ts'
import {
  inOneLine,
  type Properties,
  parsedProperties,
  propertyHelp,
  type Scalar,
  shownProperties,
  textProperty,
  userProperty
} from '../properties.ts'
import { type Common, connect, examples, reaching, type Session, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

interface User {
  id: string
  project_user_id: string
  properties: Properties
  created_at: string
  updated_at: string
}

const usual = 100
const propertiesLength = 60

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings user set ana plan=premium',
    'tidings user get ana',
    'tidings user export -o users.ndjson'
  ])
  declareGet(command, shell)
  declareSet(command, shell)
  declareUnset(command, shell)
  declareDelete(command, shell)
  declareList(command, shell)
  declareImport(command, shell)
  declareExport(command, shell)
}

function declareGet(parent: Command, shell: Shell): void {
  const command = parent.command('get <user>').description('Show a user with its properties')
  reaching(command, 'project')
  examples(command, ['tidings user get ana', "tidings user get ana --json | jq '.properties.plan'"])
  command.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const user = await session.client.json<User>('GET', `${usersIn(session)}/${segment(id)}`)
    const head = record([
      ['User', user.project_user_id],
      ['Id', user.id],
      ['Created', time(user.created_at)],
      ['Updated', time(user.updated_at)]
    ])
    tell(session, user, `${head}\n\n${shownProperties(user.properties)}`)
  })
}

interface SetOptions extends Common {
  string?: [string, Scalar][]
  properties?: string
}

function declareSet(parent: Command, shell: Shell): void {
  const command = parent.command('set <user> [properties...]').description('Create a user, or change some properties')
  command
    .option(
      '--string <name=value>',
      'A property that is text, whatever it looks like; may be repeated',
      (argument: string, before: [string, Scalar][] = []) => [...before, textProperty(argument)]
    )
    .option('--properties <json>', 'An object of properties; - reads it from standard input')
  reaching(command, 'project')
  examples(
    command,
    [
      'tidings user set ana plan=premium age=31 vip=true',
      "tidings user set ana 'city=New York' --string zip=10001",
      'echo \'{"plan":"free"}\' | tidings user set ana --properties -'
    ],
    propertyHelp
  )
  command.action(async (id: string, assignments: string[], options: SetOptions) => {
    const named = [...assignments.map(userProperty), ...(options.string ?? [])]
    const whole = options.properties === '-' ? await text(shell.stdin) : options.properties
    const properties: Properties = { ...(whole !== undefined && parsedProperties(whole)), ...Object.fromEntries(named) }
    const session = await connect(shell, options)
    const answer = await session.client.json<{ properties: Properties }>('POST', apiUsersIn(session), {
      body: { project_user_id: id, properties },
      repeatable: true
    })
    tell(
      session,
      { project_user_id: id, ...answer },
      `${record([['User', id]])}\n\n${shownProperties(answer.properties)}`
    )
  })
}

function declareUnset(parent: Command, shell: Shell): void {
  const command = parent.command('unset <user> <names...>').description('Remove properties of a user')
  reaching(command, 'project')
  examples(command, ['tidings user unset ana plan', 'tidings user unset ana plan age'])
  command.action(async (id: string, names: string[], options: Common) => {
    const session = await connect(shell, options)
    const path = `${apiUsersIn(session)}/${segment(id)}/properties:remove`
    const answer = await session.client.json<{ properties: Properties }>('POST', path, {
      body: { names },
      repeatable: true
    })
    tell(
      session,
      { project_user_id: id, ...answer },
      `${record([['User', id]])}\n\n${shownProperties(answer.properties)}`
    )
  })
}

function declareDelete(parent: Command, shell: Shell): void {
  const command = parent.command('delete <user>').description('Delete a user and everything that belongs to it')
  command.option('-y, --yes', 'Do not ask')
  reaching(command, 'project')
  examples(command, ['tidings user delete ana', 'tidings user delete ana --yes'])
  command.action(async (id: string, options: Common & { yes?: true }) => {
    const session = await connect(shell, options)
    // The contract lets a delete of nobody succeed; whoever mistypes a name should hear of it.
    await session.client.send('GET', `${usersIn(session)}/${segment(id)}`)
    const question = `Delete the user ${printable(id)} of the project ${projectOf(session.connection)} for good? [y/N] `
    await confirm(shell, question, /^y(es)?$/i, options.yes === true)
    await session.client.send('DELETE', `${apiUsersIn(session)}/${segment(id)}`)
    tell(session, { deleted: id }, `Deleted the user ${printable(id)}.`)
  })
}

function declareList(parent: Command, shell: Shell): void {
  const command = parent.command('list').description('List or search users')
  command.option('--search <text>', 'Only users whose id contains this')
  reaching(listing(command, usual), 'project')
  examples(
    command,
    [
      'tidings user list',
      'tidings user list --search @example.com --limit 20',
      "tidings user list --json | jq '.items'"
    ],
    'For all users of a large project, `tidings user export` is the better way.'
  )
  command.action(async (options: Common & ListOptions & { search?: string }) => {
    const session = await connect(shell, options)
    const columns = [
      ['user', (user: User) => user.project_user_id],
      ['properties', (user: User) => shortened(inOneLine(user.properties), propertiesLength)],
      ['updated', (user: User) => time(user.updated_at)]
    ] as const
    const page = await readAll<User>(session, usersIn(session), options, { search: options.search })
    showList(session, page, columns, options.search ? 'No user matches.' : 'There are no users.')
  })
}

function declareImport(parent: Command, shell: Shell): void {
  const command = parent.command('import <file>').description('Create or change users from a file of JSON lines')
  reaching(command, 'project')
  examples(
    command,
    ['tidings user import users.ndjson', 'zcat users.ndjson.gz | tidings user import - -p shop'],
    `One user a line: {"project_user_id":"ana","properties":{"plan":"premium"}}
Other fields are ignored, so what \`tidings user export\` wrote can be imported.
Running it again does no harm. Ends with 1 if a line was refused.`
  )
  command.action(async (file: string, options: Common) => {
    const { importFile } = await import('./import.ts')
    const session = await connect(shell, options)
    await importFile(session, usersIn(session), file)
  })
}

function declareExport(parent: Command, shell: Shell): void {
  const command = parent.command('export').description('Write all users as JSON lines, oldest first')
  command.option('-o, --output <file>', 'File to write, whole or not at all (default: standard output)')
  reaching(command, 'project')
  examples(command, [
    'tidings user export -o users.ndjson',
    'tidings user export -p shop | gzip > users.ndjson.gz',
    'tidings user export -p shop | tidings user import - -p copy'
  ])
  command.action(async (options: Common & { output?: string }) => {
    const { exportUsers } = await import('./export.ts')
    const session = await connect(shell, options)
    await exportUsers(session, usersIn(session), options.output)
  })
}

const usersIn = ({ connection }: Session) => `/projects/${segment(projectOf(connection))}/users`
const apiUsersIn = ({ connection }: Session) => `/projects/${segment(projectOf(connection))}/api/v1/users`
