import type { Command } from 'commander'
import { parseDuration } from '../../platform/duration.ts'
import { readTime } from '../../platform/time.ts'
import type { CreatedKey, Key, RotatedKey } from '../../wire.ts'
import { usageFailure } from '../exit.ts'
import { record, time } from '../output.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'
import { policyExample, policyHelp, policyInShort, readPolicyArgument } from './policy.ts'

const anId = '0199c0de-0000-7000-8000-000000000001'
const listsIds = '`tidings key list` shows the ids.'

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings key create backend --kind secret',
    'tidings key list -p shop',
    `tidings key rotate ${anId} --overlap 24h`,
    `tidings key policy ${anId} ${policyExample}`
  ])
  const keys = resource(command, shell, { name: 'key', path: '/keys' })
  declareCreate(keys)
  declareRotate(keys)
  declarePolicy(keys)

  keys.list<Key>({
    about: 'List the keys of a project, without their texts',
    examples: ['tidings key list', 'tidings key list -p shop --json'],
    columns: [
      ['id', ({ id }) => id],
      ['kind', ({ kind }) => kind],
      ['name', ({ name }) => name],
      ['key', ({ prefix }) => `${prefix}…`],
      ['created', (key) => time(key.created_at)],
      ['last used', (key) => time(key.last_used_at)],
      ['expires', expiry],
      ['policy', ({ policy }) => policyInShort(policy)]
    ],
    none: 'No keys yet. Create one with `tidings key create <name> --kind secret`.'
  })

  keys.remove({
    usage: 'revoke <id>',
    about: 'Revoke a key: it stops working at once',
    examples: [`tidings key revoke ${anId}`],
    more: listsIds,
    done: 'revoked'
  })
}

function declareCreate(keys: Resource): void {
  keys.verb<{ kind: string; expires?: string; policy?: string }>(
    {
      usage: 'create <name>',
      about: 'Create a key; its text is shown only now',
      examples: [
        'tidings key create backend --kind secret',
        'tidings key create ci --kind secret --expires 90d',
        'tidings key create ios-app --kind public -p shop --json | jq -r .key',
        `tidings key create assistant --kind secret --policy ${policyExample}`
      ],
      more: `${policyHelp}\nA field that is left out sets no limit.`,
      options: (create) =>
        create
          .addOption(
            choice('--kind <kind>', 'secret for servers, public for apps', ['secret', 'public']).makeOptionMandatory()
          )
          .option('--expires <when>', expiresHelp, expiryOf)
          .option('--policy <json|file>', 'What an agent may do with a secret key')
    },
    async (session, { kind, expires, policy: given }, name: string) => {
      const policy = given === undefined ? {} : { policy: await readPolicyArgument(given) }
      const body = { kind, name, ...(expires && { expires_at: expires }), ...policy }
      const key = await session.client.json<CreatedKey>('POST', keys.at(session), { body })
      tell(session, key, shown(key))
      if (!session.json) remark(session.shell, '\nSave the key now: it is not shown again.')
    }
  )
}

function declarePolicy(keys: Resource): void {
  keys.verb(
    {
      usage: 'policy <id> <policy>',
      about: 'Change what an agent may do with a secret key; `none` takes the policy away',
      examples: [
        `tidings key policy ${anId} ${policyExample}`,
        `tidings key policy ${anId} '{"approval_above": null, "dry_run": true}'`,
        `tidings key policy ${anId} policy.json`,
        `tidings key policy ${anId} none`
      ],
      more: `${policyHelp}\nA field that is left out keeps its value, and null takes a limit away. The policy\nholds for all rotations of the key. Every node applies it within a second.\n${listsIds}`
    },
    async (session, _, id: string, given: string) => {
      const body = { policy: await readPolicyArgument(given) }
      const key = await session.client.json<Key>('PATCH', keys.at(session, id), { body })
      tell(session, key, `The policy of ${key.name} is now: ${policyInShort(key.policy)}.`)
    }
  )
}

function declareRotate(keys: Resource): void {
  keys.verb<{ overlap?: string; expires?: string }>(
    {
      usage: 'rotate <id>',
      about: 'Replace a key; the old one works until the overlap ends',
      examples: [`tidings key rotate ${anId}`, `tidings key rotate ${anId} --overlap 0s`],
      more: `The new key has the kind, the name and the policy of the old one.\n${listsIds}`,
      options: (rotate) =>
        rotate
          .option('--overlap <duration>', 'How long the old key still works: 15m, 24h, 7d, or 0s (default: 24h)')
          .option('--expires <when>', `For the new key. ${expiresHelp}`, expiryOf)
    },
    async (session, { overlap, expires }, id: string) => {
      const body = { overlap, ...(expires && { expires_at: expires }) }
      const path = keys.at(session, id, ':rotate')
      const key = await session.client.json<RotatedKey>('POST', path, { body })
      tell(session, key, shown(key))
      if (session.json) return
      const until = key.replaces.expires_at
      const old =
        Date.parse(until) > Date.now() ? `The old key works until ${time(until)}.` : 'The old key no longer works.'
      remark(session.shell, `\nSave the key now: it is not shown again. ${old}`)
    }
  )
}

const expiresHelp = 'When it stops working: a time such as 2027-01-31T00:00:00Z, or from now: 90d (default: never)'

const expiresRule =
  '--expires: must be a time such as 2027-01-31T00:00:00Z, or a duration from now such as 15m, 24h or 90d'

/** A duration from now, or the time itself. The service checks that the time is in the future. */
function expiryOf(text: string): string {
  const ms = parseDuration(text)
  if (ms !== undefined) return new Date(Date.now() + ms).toISOString()
  if (readTime(text) === undefined) throw usageFailure(`${expiresRule} (s, m, h, d, w; ten years at most).`)
  return text
}

const expiry = ({ expires_at: at }: Pick<Key, 'expires_at'>): string =>
  at !== null && Date.parse(at) <= Date.now() ? `expired ${time(at)}` : time(at)

const shown = (key: CreatedKey): string =>
  record([
    ['Key', key.key],
    ['Kind', key.kind],
    ['Name', key.name],
    ['Id', key.id],
    ['Expires', expiry(key)],
    ['Policy', policyInShort(key.policy)]
  ])
