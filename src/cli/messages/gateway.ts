import type { Command } from 'commander'
import type { Gateway, GatewayCheck, GatewayCredential } from '../../wire.ts'
import { confirm } from '../confirm.ts'
import { projectOf } from '../connection.ts'
import { Ended, exit } from '../exit.ts'
import { showList } from '../listing.ts'
import { type Cell, record, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { type Common, choice, connect, examples, inProject, reaching, type Session, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import { readSmallFile, textOrFile } from './gateway-files.ts'

const names = ['apns', 'fcm', 'webpush'] as const

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings gateway set fcm --service-account service-account.json',
    'tidings gateway list',
    'tidings gateway check fcm'
  ])
  declareSet(command.command('set').description('Save the credential of a gateway'), shell)
  const gateways = resource(command, shell, { name: 'gateway', path: '/gateways' })
  declareList(gateways)
  declareCheck(gateways)
  declareRemove(gateways)
}

/** Not paged: a project has a few. */
function declareList(gateways: Resource): void {
  gateways.verb(
    {
      usage: 'list',
      about: 'List the credentials of a project, without secrets',
      examples: ['tidings gateway list', 'tidings gateway list -p shop --json']
    },
    async (session) => {
      const { items } = await session.client.json<{ items: GatewayCredential[] }>('GET', gateways.at(session))
      showList<GatewayCredential>(
        session,
        { items, next_cursor: null },
        [
          ['gateway', ({ gateway }) => gateway],
          ['environment', ({ environment }) => environment],
          ['for', purpose],
          ['account', (one) => (one.key_id ? `${one.team_id} ${one.key_id}` : one.client_email)],
          ['fingerprint', ({ fingerprint }) => fingerprint.replace('sha256:', '').slice(0, 12)],
          ['updated', (one) => time(one.updated_at)]
        ],
        'No gateway credentials yet. Save one with `tidings gateway set`.'
      )
    }
  )
}

function declareCheck(gateways: Resource): void {
  gateways.verb(
    {
      usage: 'check <gateway>',
      about: 'Ask the gateway whether it accepts the credential',
      examples: ['tidings gateway check apns'],
      more: 'No push is delivered. Ends with 1 if a credential is refused.'
    },
    async (session, _, gateway: string) => {
      const checked = await session.client.json<GatewayCheck>('POST', gateways.at(session, gateway, ':check'))
      const lines = checked.credentials.map((one) => `${one.ok ? 'ok  ' : 'fail'}  ${nameOf(one)}  ${one.message}`)
      tell(session, checked, lines.join('\n'))
      if (!checked.ok) throw new Ended(exit.failure)
    }
  )
}

function declareRemove(gateways: Resource): void {
  gateways.verb<{ environment?: string; topic?: string; yes?: true }>(
    {
      usage: 'remove <gateway>',
      about: 'Remove the credential of a gateway',
      examples: ['tidings gateway remove fcm', 'tidings gateway remove apns --environment sandbox --yes'],
      options: (remove) =>
        remove
          .addOption(choice('--environment <name>', 'APNs: only this environment', ['production', 'sandbox']))
          .option('--topic <bundle-id>', 'APNs: only this topic')
          .option('-y, --yes', 'Do not ask')
    },
    async (session, { environment, topic, yes }, gateway: string) => {
      const project = projectOf(session.connection)
      const question =
        `This removes the credential for ${gateway} from ${project}. Its key cannot be read back from Tidings.\n` +
        'Remove it? [y/N] '
      await confirm(session.shell, question, /^y(es)?$/i, yes === true)
      await session.client.remove(gateways.at(session, gateway), { environment, topic })
      tell(session, { removed: gateway }, `Removed the credential for ${gateway} from ${project}.`)
    }
  )
}

function declareSet(set: Command, shell: Shell): void {
  examples(
    set,
    names.map((name) => `tidings gateway set ${name} --help`)
  )

  const apns = set.command('apns').description('Save a .p8 key from Apple')
  apns
    .requiredOption('--key <file>', 'The file AuthKey_….p8')
    .requiredOption('--key-id <id>', 'The 10 characters in the name of the file')
    .requiredOption('--team-id <id>', 'The 10 characters of the team')
    .requiredOption('--topic <bundle-id>', 'The bundle id of the app')
    .addOption(
      choice('--environment <name>', 'Environment of the key', ['production', 'sandbox', 'both']).default('both')
    )
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
  fcm.requiredOption('--service-account <file>', 'The JSON file from the Firebase console')
  reaching(fcm, 'project')
  examples(fcm, ['tidings gateway set fcm --service-account service-account.json'])
  fcm.action(async (options: Common & { serviceAccount: string }) => {
    const body = { service_account: await readSmallFile(options.serviceAccount) }
    await save(await connect(shell, options), 'fcm', body)
  })

  const webpush = set.command('webpush').description('Save the subject and the key pair for browsers')
  webpush
    .requiredOption('--subject <address>', 'mailto: or https:, where push services reach you')
    .option('--public-key <key>', 'The public key of a pair you already have')
    .option('--private-key <key>', 'Its private key; @file reads it from a file')
  reaching(webpush, 'project')
  examples(
    webpush,
    ['tidings gateway set webpush --subject mailto:push@example.com'],
    `Without keys, the pair in use stays; the first time, one is generated. Give the
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
  const saved = await session.client.json<Gateway>('PUT', inProject(session, `/gateways/${gateway}`), { body })
  tell(session, saved, saved.credentials.map(shown).join('\n\n'))
  if (!session.json) remark(session.shell, `\nSaved. Try it: tidings gateway check ${gateway} -p ${project}`)
}

const purpose = (one: GatewayCredential): string => one.topic ?? one.firebase_project ?? one.subject ?? ''

const nameOf = (one: GatewayCredential): string => [one.environment, purpose(one)].filter(Boolean).join(' ')

function shown(one: GatewayCredential): string {
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
