import { type Command, InvalidArgumentError } from 'commander'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { usageFailure } from '../exit.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { counted, record, shortened, time } from '../output.ts'
import { type Common, choice, connect, examples, reaching, tell } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

interface Webhook {
  id: string
  url: string
  events: string[]
  active: boolean
  created_at: string
}

interface Delivery {
  id: string
  state: string
  source: { kind: string; id: string }
  url: string
  attempts: number
  last_error: string | null
  created_at: string
}

const anId = '0199c0de-0000-7000-8000-000000000001'

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings webhook create https://example.com/hook --events message.failed',
    'tidings webhook deliveries --state failed'
  ])

  const create = command.command('create <url>').description('Create a webhook; its secret is shown this once')
  create.requiredOption('--events <events>', 'What to be told about, separated by commas', names)
  reaching(create, 'project')
  examples(create, ['tidings webhook create https://example.com/hook --events message.failed'])
  create.action(async (url: string, { events, ...options }: Common & { events: string[] }) => {
    const session = await connect(shell, options)
    const path = pathIn(projectOf(session.connection), 'webhooks')
    const made = await session.client.json<Webhook & { secret: string }>('POST', path, { body: { url, events } })
    const fields = [
      ['Webhook', made.id],
      ['Url', made.url],
      ['Events', made.events.join(', ')],
      ['Secret', made.secret]
    ] as const
    tell(session, made, record(fields))
    if (!session.json) remark(shell, '\nKeep the secret now: it is not shown again.')
  })

  const list = command.command('list').description('List the webhooks of a project')
  reaching(listing(list), 'project')
  examples(list, ['tidings webhook list', 'tidings webhook list -p shop --json'])
  list.action(async (options: Common & ListOptions) => {
    const session = await connect(shell, options)
    const project = projectOf(session.connection)
    const columns = [
      ['id', (one: Webhook) => one.id],
      ['active', (one: Webhook) => (one.active ? 'yes' : 'no')],
      ['url', (one: Webhook) => one.url],
      ['events', (one: Webhook) => one.events.join(', ')]
    ] as const
    const page = await readAll<Webhook>(session, pathIn(project, 'webhooks'), options)
    showList(session, page, columns, `${project} has no webhooks.`)
  })

  const update = command.command('update <id>').description('Change where a webhook leads, what it hears, or whether')
  update.option('--to <url>', 'The new url').option('--events <events>', 'What to be told about', names)
  update.addOption(choice('--active <active>', 'Whether it is told', ['yes', 'no']))
  reaching(update, 'project')
  examples(update, [`tidings webhook update ${anId} --active no`])
  update.action(async (id: string, options: Common & { to?: string; events?: string[]; active?: string }) => {
    const { to: url, events, active } = options
    if (url === undefined && events === undefined && active === undefined)
      throw usageFailure('Nothing to change: give --to, --events or --active.')
    const session = await connect(shell, options)
    const body = { url, events, ...(active !== undefined && { active: active === 'yes' }) }
    const path = `${pathIn(projectOf(session.connection), 'webhooks')}/${segment(id)}`
    const one = await session.client.json<Webhook>('PATCH', path, { body })
    tell(session, one, `${one.url} is told about ${one.events.join(', ')}${one.active ? '' : ' when it is active'}.`)
  })

  const rotate = command.command('rotate-secret <id>').description('Give a webhook a new secret, shown this once')
  reaching(rotate, 'project')
  examples(rotate, [`tidings webhook rotate-secret ${anId}`])
  rotate.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const path = `${pathIn(projectOf(session.connection), 'webhooks')}/${segment(id)}:rotate-secret`
    const made = await session.client.json<{ secret: string }>('POST', path)
    tell(session, made, record([['Secret', made.secret]]))
    if (!session.json) remark(shell, '\nThe secret before signs beside it for another day.')
  })

  const remove = command.command('delete <id>').description('Delete a webhook, with what waits for it')
  reaching(remove, 'project')
  examples(remove, [`tidings webhook delete ${anId}`])
  remove.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    await session.client.send('DELETE', `${pathIn(projectOf(session.connection), 'webhooks')}/${segment(id)}`)
    tell(session, { deleted: id }, `Deleted the webhook ${id}.`)
  })

  const deliveries = command.command('deliveries').description('List the calls to webhooks, of outcomes and of tasks')
  deliveries.addOption(choice('--state <state>', 'Only these', ['pending', 'delivered', 'failed']))
  reaching(listing(deliveries, 100), 'project')
  examples(deliveries, ['tidings webhook deliveries --state failed'])
  deliveries.action(async (options: Common & ListOptions & { state?: string }) => {
    const session = await connect(shell, options)
    const project = projectOf(session.connection)
    const columns = [
      ['id', (one: Delivery) => one.id],
      ['state', (one: Delivery) => one.state],
      ['for', (one: Delivery) => one.source.kind],
      ['tries', (one: Delivery) => one.attempts],
      ['created', (one: Delivery) => time(one.created_at)],
      ['url', (one: Delivery) => shortened(one.url, 50)],
      ['error', (one: Delivery) => one.last_error && shortened(one.last_error, 50)]
    ] as const
    const path = pathIn(project, 'webhook-deliveries')
    const page = await readAll<Delivery>(session, path, options, { state: options.state })
    showList(session, page, columns, 'There are no such calls.')
  })

  const replay = command.command('replay [id]').description('Make a call again, from its first attempt')
  replay.option('--failed', 'All calls that were given up, oldest first')
  reaching(replay, 'project')
  examples(replay, [`tidings webhook replay ${anId}`, 'tidings webhook replay --failed'])
  replay.action(async (id: string | undefined, options: Common & { failed?: true }) => {
    if ((id === undefined) === (options.failed === undefined)) throw usageFailure('Name a call, or say --failed.')
    const session = await connect(shell, options)
    const path = pathIn(projectOf(session.connection), 'webhook-deliveries')
    const again = (one: string) => session.client.json<Delivery>('POST', `${path}/${segment(one)}:replay`)
    if (id !== undefined) return tell(session, await again(id), `The call ${id} is made again.`)
    const all = { limit: Number.POSITIVE_INFINITY }
    const { items } = await readAll<Delivery>(session, path, all, { state: 'failed' })
    const made: Delivery[] = []
    for (const one of items.reverse()) made.push(await again(one.id))
    tell(session, { items: made }, `${counted(made.length, 'call is', 'calls are')} made again.`)
  })

  const test = command.command('test <id>').description('Call a webhook once, with an event that says it is a test')
  reaching(test, 'project')
  examples(test, [`tidings webhook test ${anId}`], '`tidings webhook deliveries` shows what came of it.')
  test.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const path = `${pathIn(projectOf(session.connection), 'webhooks')}/${segment(id)}:test`
    const made = await session.client.json<{ delivery_id: string }>('POST', path)
    tell(session, made, record([['Call', made.delivery_id]]))
  })
}

const pathIn = (project: string, what: string) => `/projects/${segment(project)}/${what}`

function names(text: string): string[] {
  const found = text.split(',').map((name) => name.trim())
  if (found.includes('')) throw new InvalidArgumentError('They must be names separated by commas.')
  return found
}
