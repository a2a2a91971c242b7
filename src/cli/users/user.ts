import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Command } from 'commander'
import type { User } from '../../wire.ts'
import { segment } from '../client.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
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
import { type Resource, resource } from '../resource.ts'
import { examples, inProject, type Session, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { declareErasures } from './erasure.ts'
import { declareIndex } from './indexed.ts'
import { declareJourneys } from './journeys.ts'
import { declareConsents, declarePreferences } from './preferences.ts'

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings user set ana plan=premium',
    'tidings user get ana',
    'tidings user export -o users.ndjson'
  ])
  const users = resource(command, shell, { name: 'user', path: '/users' })

  users.show<User>({
    usage: 'get <user>',
    about: 'Show a user with its properties',
    examples: ['tidings user get ana', "tidings user get ana --json | jq '.properties.plan'"],
    text: shown
  })
  declareSet(users)
  declareUnset(users)
  declarePreferences(users)
  declareConsents(users)
  declareJourneys(users)
  declareData(users)
  declareDelete(users)
  declareErasures(users)
  declareIndex(users)

  users.list<User, { search?: string; where?: [string, Scalar][] }>({
    about: 'List or search users',
    examples: [
      'tidings user list',
      'tidings user list --search @example.com --limit 20',
      'tidings user list --where plan=premium --where age=31',
      "tidings user list --json | jq '.items'"
    ],
    more: `Values after --where are read as by \`tidings user set\`: 31 is a number,
'"31"' is text.
All users are compared, which takes a while in a large project, unless the
property is indexed: see \`tidings user index\`.
For all users of a large project, use \`tidings user export\`.`,
    usual: 100,
    options: (list) =>
      list
        .option('--search <text>', 'Only users whose id contains this')
        .option(
          '--where <name=value>',
          'Only users who have this property; may be repeated',
          (argument: string, before: [string, Scalar][] = []) => [...before, userProperty(argument)]
        ),
    query: ({ search, where }) => ({ search, where: where && JSON.stringify(Object.fromEntries(where)) }),
    columns: [
      ['user', (user) => user.project_user_id],
      ['properties', ({ properties }) => shortened(inOneLine(properties), 60)],
      ['updated', (user) => time(user.updated_at)]
    ],
    none: ({ search, where }) =>
      search || where ? 'No user matches.' : 'No users yet. Create one with `tidings user set <user> plan=premium`.'
  })
  declareImport(users)
  declareExport(users)
}

interface SetOptions {
  string?: [string, Scalar][]
  properties?: string
}

function declareSet(users: Resource): void {
  users.verb<SetOptions>(
    {
      usage: 'set <user> [properties...]',
      about: 'Create a user, or change some properties',
      examples: [
        'tidings user set ana plan=premium age=31 vip=true',
        "tidings user set ana 'city=New York' --string zip=10001",
        'echo \'{"plan":"free"}\' | tidings user set ana --properties -'
      ],
      more: propertyHelp,
      options: (set) =>
        set
          .option(
            '--string <name=value>',
            'A property whose value is always text; may be repeated',
            (argument: string, before: [string, Scalar][] = []) => [...before, textProperty(argument)]
          )
          .option('--properties <json>', 'An object of properties; - reads it from standard input'),
      check: (_, __, assignments: string[]) => void assignments.map(userProperty)
    },
    async (session, options, id: string, assignments: string[]) => {
      const named = [...assignments.map(userProperty), ...(options.string ?? [])]
      const whole = options.properties === '-' ? await text(session.shell.stdin) : options.properties
      const properties = { ...(whole !== undefined && parsedProperties(whole)), ...Object.fromEntries(named) }
      const body = { project_user_id: id, properties }
      await changed(session, id, inProject(session, '/api/v1/users'), body)
    }
  )
}

function declareUnset(users: Resource): void {
  users.verb(
    {
      usage: 'unset <user> <names...>',
      about: 'Remove properties of a user',
      examples: ['tidings user unset ana plan', 'tidings user unset ana plan age']
    },
    async (session, _, id: string, names: string[]) =>
      changed(session, id, `${apiPath(session, id)}/properties:remove`, { names })
  )
}

/** Changes properties and shows all that the user has afterwards. */
async function changed(session: Session, id: string, path: string, body: object): Promise<void> {
  const stored = await session.client.json<{ properties: Properties }>('POST', path, { body, repeatable: true })
  tell(
    session,
    { project_user_id: id, ...stored },
    `${record([['User', id]])}\n\n${shownProperties(stored.properties)}`
  )
}

function declareData(users: Resource): void {
  users.verb(
    {
      usage: 'data <user>',
      about: 'Print everything that is stored about a user as JSON',
      examples: ['tidings user data ana > ana.json', "tidings user data ana | jq '.events | length'"],
      more: `Properties, preferences, consents, devices with their tokens, events, messages,
journeys, conversions and skips: the response to a person who asks for their
data. Needs the role admin.`
    },
    async (session, _, id: string) => {
      const response = await session.client.send('GET', `${users.at(session, id)}/export`)
      await pipeline(Readable.fromWeb(response.body as ReadableStream<Uint8Array>), session.shell.stdout, {
        end: false
      })
    }
  )
}

function declareDelete(users: Resource): void {
  users.verb<{ yes?: true }>(
    {
      usage: 'delete <user>',
      about: 'Delete a user and everything that belongs to it',
      examples: ['tidings user delete ana', 'tidings user delete ana --yes'],
      options: (remove) => remove.option('-y, --yes', 'Do not ask')
    },
    async (session, { yes }, id: string) => {
      // The contract lets the deletion of an absent user succeed; here a mistyped id is reported.
      await session.client.send('GET', users.at(session, id))
      const question = `Delete the user ${printable(id)} of the project ${projectOf(session.connection)} for good? [y/N] `
      await confirm(session.shell, question, /^y(es)?$/i, yes === true)
      await session.client.remove(apiPath(session, id))
      tell(session, { deleted: id }, `Deleted the user ${printable(id)}.`)
    }
  )
}

function declareImport(users: Resource): void {
  users.verb(
    {
      usage: 'import <file>',
      about: 'Create or change users from a file of JSON lines',
      examples: ['tidings user import users.ndjson', 'zcat users.ndjson.gz | tidings user import - -p shop'],
      more: `One user a line: {"project_user_id":"ana","properties":{"plan":"premium"}}
Preferences are merged too. Other fields are ignored, so the output of
\`tidings user export\` can be imported. An import can be
repeated safely. Ends with 1 if a line was refused.`
    },
    async (session, _, file: string) => {
      const { importFile } = await import('./import.ts')
      await importFile(session, users.at(session), file)
    }
  )
}

function declareExport(users: Resource): void {
  users.verb<{ output?: string }>(
    {
      usage: 'export',
      about: 'Write all users as JSON lines, oldest first',
      examples: [
        'tidings user export -o users.ndjson',
        'tidings user export -p shop | gzip > users.ndjson.gz',
        'tidings user export -p shop | tidings user import - -p copy'
      ],
      options: (command) =>
        command.option('-o, --output <file>', 'File to write, only once it is complete (default: standard output)')
    },
    async (session, { output }) => {
      const { exportUsers } = await import('./export.ts')
      await exportUsers(session, users.at(session), output)
    }
  )
}

function shown(user: User): string {
  const head = record([
    ['User', user.project_user_id],
    ['Id', user.id],
    ['Created', time(user.created_at)],
    ['Updated', time(user.updated_at)]
  ])
  return `${head}\n\n${shownProperties(user.properties)}`
}

const apiPath = (session: Session, id: string) => inProject(session, `/api/v1/users/${segment(id)}`)
