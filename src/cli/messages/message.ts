import type { Command } from 'commander'
import type { Message, MessageEntry } from '../../wire.ts'
import { record, shortened, table, time } from '../output.ts'
import { pastTime } from '../past-time.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, tell } from '../session.ts'
import type { Shell } from '../shell.ts'

type Filter = Partial<Record<'user' | 'device' | 'trigger' | 'campaign' | 'status' | 'since' | 'before', string>>

export function declare(command: Command, shell: Shell): void {
  examples(
    command,
    ['tidings message list --user ana', 'tidings message get <message>', 'tidings message cancel <message>'],
    'To send one, use `tidings send`.'
  )
  resource(command, shell, { name: 'message', path: '/messages' }).list<MessageEntry, Filter>({
    about: 'List messages, one line for each device',
    examples: ['tidings message list --user ana --since 2h', 'tidings message list --campaign welcome --status failed'],
    usual: 50,
    options: (list) =>
      list
        .option('--user <user>', 'Only messages to this user')
        .option('--device <device>', 'Only messages to this device')
        .option('--trigger <trigger>', 'Only messages of this trigger')
        .option('--campaign <campaign>', 'Only messages of this campaign')
        .addOption(choice('--status <status>', 'Only messages of this status', ['succeed', 'failed', 'pending']))
        .option('--since <time>', 'Only messages since: 2h, 7d, or an RFC 3339 time', pastTime)
        .option('--before <time>', 'Only messages before: 2h, 7d, or an RFC 3339 time', pastTime),
    query: ({ user, device, trigger, campaign, status, since, before }) => ({
      from: since,
      to: before,
      project_user_id: user,
      device_id: device,
      trigger_id: trigger,
      campaign_id: campaign,
      status: status?.toUpperCase()
    }),
    columns: [
      ['message', (one) => one.message_id],
      ['user', (one) => one.project_user_id],
      ['device', (one) => one.device_id],
      ['state', ({ state }) => state],
      ['title', ({ title, body, kind }) => shortened(title ?? body ?? kind, 30)],
      ['created', (one) => time(one.created_at)],
      ['reason', (one) => codeOf(one.failure_reason)]
    ],
    none: 'No messages match.'
  })
  const messages = resource(command, shell, { name: 'message', path: '/api/v1/messages' })
  messages.show<Message>({
    usage: 'get <message>',
    about: 'Show a message, and its status on each device',
    examples: ['tidings message get 0199c0de-0000-7000-8000-000000000001'],
    text: shown
  })
  declareCancel(messages)
}

function declareCancel(messages: Resource): void {
  messages.verb(
    {
      usage: 'cancel <message>',
      about: 'Cancel a message that waits for its time',
      examples: ['tidings message cancel 0199c0de-0000-7000-8000-000000000001'],
      more: `For messages of \`tidings send --at\`. Ends with 1, and changes nothing, if a
gateway has the message or it has ended. A message of a campaign is canceled
with its trigger: \`tidings trigger cancel\`.`
    },
    async (session, _, id: string) => {
      const message = await session.client.json<Message>('POST', messages.at(session, id, ':cancel'))
      tell(session, message, `Canceled the message.\n\n${shown(message)}`)
    }
  )
}

/** A list has room for the code; `get` has the sentence. */
const codeOf = (reason: string) => /^\[(\w+)\]/.exec(reason)?.[1] ?? reason

function shown({ message_id, status, trigger_id, campaign_id, created_at, devices }: Message): string {
  const [first] = devices
  const head = record([
    ['Message', message_id],
    ['Status', status.replace('DELIVERY_RESULT_STATUS_', '').toLowerCase()],
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
