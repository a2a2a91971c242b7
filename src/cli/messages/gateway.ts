import type { Command } from 'commander'
import { segment } from '../client.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
import { Ended, exit } from '../exit.ts'
import { showList } from '../listing.ts'
import { type Cell, record, time } from '../output.ts'
import { type Common, choice, connect, examples, reaching, type Session, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import { readSmallFile, textOrFile } from './gateway-files.ts'

interface Credential {
  id: string
  gateway: string
  environment?: string
  topic?: string
  key_id?: string
  team_id?: string
  firebase_project?: string
  client_email?: string
  subject?: string
  public_key?: string
  fingerprint: string
  version: number
  updated_at: string
}

interface Gateway<Entry = Credential> {
  gateway: string
  credentials: Entry[]
}

const names = ['apns', 'fcm', 'webpush'] as const

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings gateway set fcm --service-account service-account.json',
    'tidings gateway list',
    'tidings gateway check fcm'
  ])
  declareSet(command.command('set').description('Save the credential of a gateway'), shell)

  const list = command.command('list').description('List the credentials of a project, without secrets')
  reaching(list, 'project')
  examples(list, ['tidings gateway list', 'tidings gateway list -p shop --json'])
  list.action(async (options: Common) => {
    const session = await connect(shell, options)
    const project = projectOf(session.connection)
    const { items } = await session.client.json<{ items: Credential[] }>('GET', pathIn(project))
    const columns = [
      ['gateway', (one: Credential) => one.gateway],
      ['environment', (one: Credential) => one.environment],
      ['for', whatFor],
      ['account', (one: Credential) => (one.key_id ? `${one.team_id} ${one.key_id}` : one.client_email)],
      ['fingerprint', (one: Credential) => one.fingerprint.replace('sha256:', '').slice(0, 12)],
      ['updated', (one: Credential) => time(one.updated_at)]
    ] as const
    showList(session, { items, next_cursor: null }, columns, `${project} has no gateway credentials.`)
  })

  const check = command.command('check <gateway>').description('Ask the gateway whether it accepts the credential')
  reaching(check, 'project')
  examples(check, ['tidings gateway check apns'], 'Nothing is delivered. Ends with 1 if a credential is refused.')
  check.action(async (gateway: string, options: Common) => {
    const session = await connect(shell, options)
    const path = `${pathIn(projectOf(session.connection))}/${segment(gateway)}:check`
    const answer = await session.client.json<Gateway<Credential & { ok: boolean; message: string }> & { ok: boolean }>(
      'POST',
      path
    )
    const lines = answer.credentials.map((one) => `${one.ok ? 'ok  ' : 'fail'}  ${nameOf(one)}  ${one.message}`)
    tell(session, answer, lines.join('\n'))
    if (!answer.ok) throw new Ended(exit.failure)
  })

  const remove = command.command('remove <gateway>').description('Remove the credential of a gateway')
  remove
    .addOption(choice('--environment <name>', 'APNs: only this environment', ['production', 'sandbox']))
    .option('--topic <bundle-id>', 'APNs: only this topic')
    .option('-y, --yes', 'Do not ask')
  reaching(remove, 'project')
  examples(remove, ['tidings gateway remove fcm', 'tidings gateway remove apns --environment sandbox --yes'])
  remove.action(async (gateway: string, options: Common & { environment?: string; topic?: string; yes?: true }) => {
    const session = await connect(shell, options)
    const project = projectOf(session.connection)
    const { environment, topic } = options
    const question = `This removes the credential for ${gateway} from ${project}. Nobody can get its key back out of Tidings.\nRemove it? [y/N] `
    await confirm(shell, question, /^y(es)?$/i, options.yes === true)
    await session.client.send('DELETE', `${pathIn(project)}/${segment(gateway)}`, { query: { environment, topic } })
    tell(session, { removed: gateway }, `Removed the credential for ${gateway} from ${project}.`)
  })
}

function declareSet(set: Command, shell: Shell): void {
  examples(
    set,
    names.map((name) => `tidings gateway set ${name} --help`)
  )

  const apns = set.command('apns').description('Save a .p8 key of Apple')
  apns
    .requiredOption('--key <file>', 'The file AuthKey_….p8')
    .requiredOption('--key-id <id>', 'The 10 characters in the name of the file')
    .requiredOption('--team-id <id>', 'The 10 characters of the team')
    .requiredOption('--topic <bundle-id>', 'The bundle id of the app')
    .addOption(choice('--environment <name>', 'What the key is for', ['production', 'sandbox', 'both']).default('both'))
  reaching(apns, 'project')
  examples(apns, [
    'tidings gateway set apns --key AuthKey_ABC123DEFG.p8 \\\n      --key-id ABC123DEFG --team-id DEF123GHIJ --topic com.example.app'
  ])
  apns.action(
    async (options: Common & { key: string; keyId: string; teamId: string; topic: string; environment: string }) => {
      const { keyId, teamId, topic, environment } = options
      const body = { key: await readSmallFile(options.key), key_id: keyId, team_id: teamId, topic, environment }
      await save(await connect(shell, options), 'apns', body)
    }
  )

  const fcm = set.command('fcm').description('Save a service account of Firebase')
  fcm.requiredOption('--service-account <file>', 'The JSON file that the Firebase console gives')
  reaching(fcm, 'project')
  examples(fcm, ['tidings gateway set fcm --service-account service-account.json'])
  fcm.action(async (options: Common & { serviceAccount: string }) => {
    const body = { service_account: await readSmallFile(options.serviceAccount) }
    await save(await connect(shell, options), 'fcm', body)
  })

  const webpush = set.command('webpush').description('Save the subject and the key pair for browsers')
  webpush
    .requiredOption('--subject <address>', 'mailto: or https:, where push services reach you')
    .option('--public-key <key>', 'Of a pair you have already')
    .option('--private-key <key>', 'Of the same pair; @file reads it from a file')
  reaching(webpush, 'project')
  examples(
    webpush,
    ['tidings gateway set webpush --subject mailto:push@example.com'],
    `Without keys the pair in use stays, and the first time one is made. Give the
public key to your web page: browsers subscribe with it.`
  )
  webpush.action(async (options: Common & { subject: string; publicKey?: string; privateKey?: string }) => {
    const { subject, publicKey, privateKey } = options
    const body = {
      subject,
      ...(publicKey !== undefined && { public_key: publicKey }),
      ...(privateKey !== undefined && { private_key: await textOrFile(privateKey) })
    }
    await save(await connect(shell, options), 'webpush', body)
  })
}

async function save(session: Session, gateway: string, body: Record<string, unknown>): Promise<void> {
  const project = projectOf(session.connection)
  const answer = await session.client.json<Gateway>('PUT', `${pathIn(project)}/${gateway}`, { body })
  tell(session, answer, answer.credentials.map(shown).join('\n\n'))
  if (!session.json) remark(session.shell, `\nSaved. Try it: tidings gateway check ${gateway} -p ${project}`)
}

const whatFor = (one: Credential): string => one.topic ?? one.firebase_project ?? one.subject ?? ''

const nameOf = (one: Credential): string => [one.environment, whatFor(one)].filter(Boolean).join(' ')

function shown(one: Credential): string {
  const fields: [string, Cell][] = [
    ['Gateway', one.gateway],
    ['Environment', one.environment],
    ['Topic', one.topic],
    ['Key id', one.key_id],
    ['Team id', one.team_id],
    ['Firebase project', one.firebase_project],
    ['Account', one.client_email],
    ['Subject', one.subject],
    ['Public key', one.public_key],
    ['Fingerprint', one.fingerprint],
    ['Version', one.version]
  ]
  return record(fields.filter(([, value]) => value !== undefined))
}

const pathIn = (project: string) => `/projects/${segment(project)}/gateways`
