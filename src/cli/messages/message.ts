import type { Command } from 'commander'
import { segment } from '../client.ts'
import { projectOf } from '../connection.ts'
import { type ListOptions, listing, readAll, showList } from '../listing.ts'
import { record, shortened, table, time } from '../output.ts'
import { type Common, choice, connect, examples, reaching, type Session, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

interface Entry {
  message_id: string
  device_id: string
  status: string
  state: string
  failure_reason: string
  trigger_id: string | null
  campaign_id: string | null
  project_user_id: string | null
  kind: string
  title: string | null
  body: string | null
  attempts: number
  created_at: string
  delivered_at: string | null
  tapped_at: string | null
}

type Message = Pick<Entry, 'message_id' | 'status' | 'trigger_id' | 'campaign_id' | 'created_at'> & { devices: Entry[] }

type Filter = Partial<Record<'user' | 'device' | 'trigger' | 'campaign' | 'status', string>>

const usual = 50

export function declare(command: Command, shell: Shell): void {
  examples(
    command,
    ['tidings message list --user ana', 'tidings message get <message>'],
    'To send one: `tidings send`.'
  )
  declareList(command, shell)
  declareGet(command, shell)
}

function declareList(parent: Command, shell: Shell): void {
  const command = parent.command('list').description('List messages, one line for each device')
  command
    .option('--user <user>', 'Only those to this user')
    .option('--device <device>', 'Only those to this device')
    .option('--trigger <trigger>', 'Only those of this trigger')
    .option('--campaign <campaign>', 'Only those of this campaign')
    .addOption(choice('--status <status>', 'Only those with this result', ['succeed', 'failed', 'pending']))
  reaching(listing(command, usual), 'project')
  examples(command, ['tidings message list --user ana', 'tidings message list --campaign welcome --status failed'])
  command.action(async (options: Common & ListOptions & Filter) => {
    const session = await connect(shell, options)
    const { user: project_user_id, device: device_id, trigger: trigger_id, campaign: campaign_id } = options
    const query = { project_user_id, device_id, trigger_id, campaign_id, status: options.status?.toUpperCase() }
    const page = await readAll<Entry>(session, messagesIn(session), options, query)
    const columns = [
      ['message', (one: Entry) => one.message_id],
      ['user', (one: Entry) => one.project_user_id],
      ['device', (one: Entry) => one.device_id],
      ['state', (one: Entry) => one.state],
      ['title', (one: Entry) => shortened(one.title ?? one.body ?? one.kind, 30)],
      ['created', (one: Entry) => time(one.created_at)],
      ['reason', (one: Entry) => codeOf(one.failure_reason)]
    ] as const
    showList(session, page, columns, 'There are no messages.')
  })
}

function declareGet(parent: Command, shell: Shell): void {
  const command = parent.command('get <message>').description('Show a message, and the result on each device')
  reaching(command, 'project')
  examples(command, ['tidings message get 0199c0de-0000-7000-8000-000000000001'])
  command.action(async (id: string, options: Common) => {
    const session = await connect(shell, options)
    const project = segment(projectOf(session.connection))
    const path = `/projects/${project}/api/v1/messages/${segment(id)}`
    const message = await session.client.json<Message>('GET', path)
    tell(session, message, shown(message))
  })
}

const messagesIn = ({ connection }: Session) => `/projects/${segment(projectOf(connection))}/messages`

/** A list has room for the code; `get` has the sentence. */
const codeOf = (reason: string) => /^\[(\w+)\]/.exec(reason)?.[1] ?? reason

function shown({ message_id, status, trigger_id, campaign_id, created_at, devices }: Message): string {
  const [first] = devices
  const head = record([
    ['Message', message_id],
    ['Result', status.replace('DELIVERY_RESULT_STATUS_', '').toLowerCase()],
    ['Title', first?.title],
    ['Body', first?.body],
    ['Campaign', campaign_id],
    ['Trigger', trigger_id],
    ['Created', time(created_at)]
  ])
  const heads = ['device', 'user', 'state', 'attempts', 'delivered', 'tapped', 'reason']
  const rows = devices.map((one) => [
    one.device_id,
    one.project_user_id,
    one.state,
    one.attempts,
    time(one.delivered_at),
    time(one.tapped_at),
    one.failure_reason
  ])
  return rows.length > 0 ? `${head}\n\n${table(heads, rows)}` : head
}
