import { type Command, InvalidArgumentError } from 'commander'
import type { Webhook, WebhookDelivery } from '../../wire.ts'
import { usageFailure } from '../exit.ts'
import { readAll } from '../listing.ts'
import { counted, record, shortened, time } from '../output.ts'
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
      ['events', ({ events }) => events.join(', ')]
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
  deliveries.list<WebhookDelivery, { state?: string }>({
    usage: 'deliveries',
    about: 'List the deliveries to webhooks of projects and tasks',
    examples: ['tidings webhook deliveries --state failed'],
    usual: 100,
    options: (list) =>
      list.addOption(choice('--state <state>', 'Only deliveries in this state', ['pending', 'delivered', 'failed'])),
    query: ({ state }) => ({ state }),
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
  declareReplay(deliveries)
  declareTest(webhooks)
}

function declareCreate(webhooks: Resource): void {
  webhooks.verb<{ events: string[] }>(
    {
      usage: 'create <url>',
      about: 'Create a webhook; its secret is shown only now',
      examples: ['tidings webhook create https://example.com/hook --events message.failed'],
      options: (create) => create.requiredOption('--events <events>', 'Events to deliver, separated by commas', names)
    },
    async (session, { events }, url: string) => {
      const body = { url, events }
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
          .addOption(choice('--active <active>', 'Whether events are delivered', ['yes', 'no'])),
      check({ to, events, active }) {
        if (to === undefined && events === undefined && active === undefined)
          throw usageFailure('Nothing to change: give --to, --events or --active.')
      }
    },
    async (session, { to: url, events, active }, id: string) => {
      const body = { url, events, ...(active !== undefined && { active: active === 'yes' }) }
      const one = await session.client.json<Webhook>('PATCH', webhooks.at(session, id), { body })
      const state = one.active ? 'active' : 'not active'
      tell(session, one, `The webhook to ${one.url} is ${state}. Events: ${one.events.join(', ')}.`)
    }
  )
}

function declareRotateSecret(webhooks: Resource): void {
  webhooks.verb(
    {
      usage: 'rotate-secret <id>',
      about: 'Create a new secret for a webhook, shown only now',
      examples: [`tidings webhook rotate-secret ${anId}`]
    },
    async (session, _, id: string) => {
      const made = await session.client.json<{ secret: string }>('POST', webhooks.at(session, id, ':rotate-secret'))
      tell(session, made, record([['Secret', made.secret]]))
      if (!session.json) remark(session.shell, '\nDeliveries are signed with the old secret too for another day.')
    }
  )
}

function declareReplay(deliveries: Resource): void {
  deliveries.verb<{ failed?: true }>(
    {
      usage: 'replay [id]',
      about: 'Repeat a delivery, from its first attempt',
      examples: [`tidings webhook replay ${anId}`, 'tidings webhook replay --failed'],
      options: (replay) => replay.option('--failed', 'All failed deliveries, oldest first'),
      check({ failed }, id?: string) {
        if ((id === undefined) === (failed === undefined)) throw usageFailure('Give the id of a delivery, or --failed.')
      }
    },
    async (session, _, id?: string) => {
      const replay = (one: string) =>
        session.client.json<WebhookDelivery>('POST', deliveries.at(session, one, ':replay'))
      if (id !== undefined) return tell(session, await replay(id), `The delivery ${id} is repeated.`)
      const all = { limit: Number.POSITIVE_INFINITY }
      const { items } = await readAll<WebhookDelivery>(session, deliveries.at(session), all, { state: 'failed' })
      const replayed: WebhookDelivery[] = []
      for (const one of items.reverse()) replayed.push(await replay(one.id))
      tell(session, { items: replayed }, `${counted(replayed.length, 'delivery is', 'deliveries are')} repeated.`)
    }
  )
}

function declareTest(webhooks: Resource): void {
  webhooks.verb(
    {
      usage: 'test <id>',
      about: 'Send one test event to a webhook',
      examples: [`tidings webhook test ${anId}`],
      more: '`tidings webhook deliveries` shows the outcome.'
    },
    async (session, _, id: string) => {
      const made = await session.client.json<{ delivery_id: string }>('POST', webhooks.at(session, id, ':test'))
      tell(session, made, record([['Delivery', made.delivery_id]]))
    }
  )
}

function names(text: string): string[] {
  const found = text.split(',').map((name) => name.trim())
  if (found.includes('')) throw new InvalidArgumentError('It must be a list of names separated by commas.')
  return found
}
