import { type Command, InvalidArgumentError } from 'commander'
import type { Webhook, WebhookDelivery, WebhookDeliveryDetail } from '../../wire.ts'
import { usageFailure } from '../exit.ts'
import { counted, record, shortened, time } from '../output.ts'
import { pastTime } from '../past-time.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

const anId = '0199c0de-0000-7000-8000-000000000001'

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings webhook create https://example.com/hook --events message.failed',
    'tidings webhook deliveries --state failed'
  ])
  const webhooks = resource(command, shell, { name: 'webhook', path: '/webhooks' })
  const deliveries = resource(command, shell, {
    name: 'delivery',
    path: '/webhook-deliveries',
    hint: 'List deliveries with `tidings webhook deliveries`.'
  })

  declareCreate(webhooks)
  webhooks.list<Webhook>({
    about: 'List the webhooks of a project',
    examples: ['tidings webhook list', 'tidings webhook list -p shop --json'],
    columns: [
      ['id', ({ id }) => id],
      ['active', ({ active }) => (active ? 'yes' : 'no')],
      ['url', ({ url }) => url],
      ['events', ({ events }) => events.join(', ')],
      ['description', ({ description }) => description && shortened(description, 40)]
    ],
    none: 'No webhooks yet. Create one with `tidings webhook create <url> --events <events>`.'
  })
  declareUpdate(webhooks)
  declareRotateSecret(webhooks)
  webhooks.remove({
    usage: 'delete <id>',
    about: 'Delete a webhook and its pending deliveries',
    examples: [`tidings webhook delete ${anId}`],
    done: 'deleted'
  })
  deliveries.list<WebhookDelivery, { state?: string } & Which>({
    usage: 'deliveries',
    about: 'List the deliveries to webhooks of projects and tasks',
    examples: ['tidings webhook deliveries --state failed', 'tidings webhook deliveries --since 2h'],
    usual: 100,
    options: (list) =>
      which(
        list.addOption(choice('--state <state>', 'Only deliveries in this state', ['pending', 'delivered', 'failed']))
      ),
    query: ({ state, webhook, since }) => ({ state, webhook_id: webhook, from: since }),
    columns: [
      ['id', ({ id }) => id],
      ['state', ({ state }) => state],
      ['for', ({ source }) => source.kind],
      ['tries', ({ attempts }) => attempts],
      ['created', (one) => time(one.created_at)],
      ['url', ({ url }) => shortened(url, 50)],
      ['error', (one) => one.last_error && shortened(one.last_error, 50)]
    ],
    none: 'No deliveries match.'
  })
  deliveries.show<WebhookDeliveryDetail>({
    usage: 'delivery <id>',
    about: 'Show a delivery: its body, and each attempt with its response',
    examples: [`tidings webhook delivery ${anId}`],
    text: detailOf
  })
  declareReplay(deliveries)
  declareTest(webhooks)
}

function declareCreate(webhooks: Resource): void {
  webhooks.verb<{ events: string[]; description?: string }>(
    {
      usage: 'create <url>',
      about: 'Create a webhook; its secret is shown only now',
      examples: ['tidings webhook create https://example.com/hook --events message.failed'],
      options: (create) =>
        create
          .requiredOption('--events <events>', 'Events to deliver, separated by commas', names)
          .option('--description <text>', 'A note for people')
    },
    async (session, { events, description }, url: string) => {
      const body = { url, events, description }
      const made = await session.client.json<Webhook & { secret: string }>('POST', webhooks.at(session), { body })
      const fields = [
        ['Webhook', made.id],
        ['Url', made.url],
        ['Events', made.events.join(', ')],
        ['Secret', made.secret]
      ] as const
      tell(session, made, record(fields))
      if (!session.json) remark(session.shell, '\nSave the secret now: it is not shown again.')
    }
  )
}

interface UpdateOptions {
  to?: string
  events?: string[]
  active?: string
  description?: string
}

function declareUpdate(webhooks: Resource): void {
  webhooks.verb<UpdateOptions>(
    {
      usage: 'update <id>',
      about: 'Change the url or the events of a webhook, or switch it off',
      examples: [`tidings webhook update ${anId} --active no`],
      options: (update) =>
        update
          .option('--to <url>', 'The new url')
          .option('--events <events>', 'Events to deliver, separated by commas', names)
          .option('--description <text>', 'A note for people; empty for none')
          .addOption(choice('--active <active>', 'Whether events are delivered', ['yes', 'no'])),
      check({ to, events, active, description }) {
        if ([to, events, active, description].every((value) => value === undefined))
          throw usageFailure('Nothing to change: give --to, --events, --active or --description.')
      }
    },
    async (session, { to: url, events, active, description }, id: string) => {
      const body = { url, events, description, ...(active !== undefined && { active: active === 'yes' }) }
      const one = await session.client.json<Webhook>('PATCH', webhooks.at(session, id), { body })
      const state = one.active ? 'active' : 'not active'
      tell(session, one, `The webhook to ${one.url} is ${state}. Events: ${one.events.join(', ')}.`)
    }
  )
}

function declareRotateSecret(webhooks: Resource): void {
  webhooks.verb<{ overlap?: string }>(
    {
      usage: 'rotate-secret <id>',
      about: 'Create a new secret for a webhook, shown only now',
      examples: [`tidings webhook rotate-secret ${anId}`],
      more: `Deliveries carry a signature of the old secret too until the overlap ends. If a
secret leaked, --overlap 0s ends the old one and all before it at once.`,
      options: (command) =>
        command.option(
          '--overlap <duration>',
          'How long the old secret still signs: 15m, 24h, 7d, or 0s (default: 24h)'
        )
    },
    async (session, { overlap }, id: string) => {
      const path = webhooks.at(session, id, ':rotate-secret')
      const made = await session.client.json<{ secret: string }>('POST', path, { body: { overlap } })
      tell(session, made, record([['Secret', made.secret]]))
      if (session.json) return
      const old = overlap?.startsWith('0') ? 'this one only' : `the old one too for ${overlap ?? '24h'}`
      remark(session.shell, `\nSave the secret now: it is not shown again. Deliveries are signed with ${old}.`)
    }
  )
}

/** Which deliveries a command means. */
interface Which {
  webhook?: string
  since?: string
}

/** The most that one request repeats. */
const callsPerRound = 1_000
const mostRounds = 100

const which = (command: Command) =>
  command
    .option('--webhook <id>', 'Only deliveries to this webhook')
    .option('--since <time>', 'Only deliveries created since: 2h, 7d, or an RFC 3339 time', pastTime)

function declareReplay(deliveries: Resource): void {
  deliveries.verb<{ failed?: true } & Which>(
    {
      usage: 'replay [id]',
      about: 'Repeat a delivery, from its first attempt',
      examples: [`tidings webhook replay ${anId}`, 'tidings webhook replay --failed --since 24h'],
      options: (replay) => which(replay.option('--failed', 'All failed deliveries, oldest first')),
      check({ failed, webhook, since }, id?: string) {
        if ((id === undefined) === (failed === undefined)) throw usageFailure('Give the id of a delivery, or --failed.')
        if (id !== undefined && (webhook ?? since) !== undefined)
          throw usageFailure('--webhook and --since narrow --failed.')
      }
    },
    async (session, { webhook, since = '1970-01-01T00:00:00Z' }, id?: string) => {
      if (id !== undefined) {
        const one = await session.client.json<WebhookDelivery>('POST', deliveries.at(session, id, ':replay'))
        return tell(session, one, `The delivery ${id} is repeated.`)
      }
      const body = { since, ...(webhook !== undefined && { webhook_id: webhook }) }
      let replayed = 0
      // Bounded, because a receiver may refuse the repeated calls while others are still being repeated.
      for (let round = 0; round < mostRounds; round += 1) {
        const path = deliveries.at(session, undefined, ':replay-failed')
        const some = (await session.client.json<{ replayed: number }>('POST', path, { body })).replayed
        replayed += some
        if (some < callsPerRound) break
      }
      tell(session, { replayed }, `${counted(replayed, 'delivery is', 'deliveries are')} repeated.`)
    }
  )
}

function declareTest(webhooks: Resource): void {
  webhooks.verb(
    {
      usage: 'test <id>',
      about: 'Send one test event to a webhook, and show its response',
      examples: [`tidings webhook test ${anId}`]
    },
    async (session, _, id: string) => {
      const made = await session.client.json<{ delivery: WebhookDeliveryDetail }>(
        'POST',
        webhooks.at(session, id, ':test')
      )
      tell(session, made, detailOf(made.delivery))
    }
  )
}

/** A delivery with the response to each of its attempts, newest first. */
function detailOf({ id, state, url, next_at, body, made }: WebhookDeliveryDetail): string {
  const fields = [
    ['Delivery', id],
    ['State', state],
    ['Url', url],
    ...(next_at === null ? [] : [['Next attempt', time(next_at)] as const]),
    ['Body', body],
    ...made.flatMap(({ at, duration_ms, status, error, response }) => [
      [`Attempt ${time(at)}`, `${status ?? 'no response'}, ${duration_ms} ms${error ? `, ${error}` : ''}`] as const,
      ...(response === null ? [] : [['Response', response] as const])
    ])
  ] as const
  return record(fields)
}

function names(text: string): string[] {
  const found = text.split(',').map((name) => name.trim())
  if (found.includes('')) throw new InvalidArgumentError('It must be a list of names separated by commas.')
  return found
}
