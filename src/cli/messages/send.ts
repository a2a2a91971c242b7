import type { Command } from 'commander'
import type { DeliveryResult, DeliveryResults } from '../../wire.ts'
import { Ended, exit, usageFailure } from '../exit.ts'
import { record, table } from '../output.ts'
import { type Common, choice, connect, examples, inProject, reaching, tell, wholeNumber } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

interface Options extends Common {
  user?: string
  device?: string
  title?: string
  body?: string
  imageUrl?: string
  landingUrl?: string
  ttl?: number
  priority?: string
  idempotencyKey?: string
  at?: string
}

export function declare(command: Command, shell: Shell): void {
  command
    .option('--user <user>', 'To all devices of this user')
    .option('--device <device>', 'To this device')
    .option('--title <text>', 'Title')
    .option('--body <text>', 'Text below the title')
    .option('--image-url <url>', 'Image to show')
    .option('--landing-url <url>', 'Address that a tap opens')
    .option('--ttl <seconds>', 'Time to live in seconds', wholeNumber(1, 2_419_200))
    .addOption(choice('--priority <priority>', 'high (the default) or normal', ['high', 'normal']))
    .option('--at <time>', 'When it is sent, at most 90 days ahead: 2026-12-24T18:00Z')
    .option('--idempotency-key <key>', 'Makes the command safe to repeat: it sends once')
  reaching(command, 'project')
  examples(
    command,
    ['tidings send --user ana --title Hi', "tidings send --device phone-1 --title Hi --body 'It works.' --json"],
    'Waits up to 10 seconds for the gateways. Ends with 1 if all devices failed.'
  )
  command.action(async (options: Options) => {
    const body = { push_notifications: [itemOf(options)] }
    const session = await connect(shell, options)
    const key = options.idempotencyKey
    const { delivery_results: results } = await session.client.json<DeliveryResults>(
      'POST',
      inProject(session, '/api/v1/messages:send'),
      {
        body,
        query: { expand: 'devices' },
        ...(key !== undefined && { headers: { 'idempotency-key': key }, repeatable: true })
      }
    )
    const [result] = results
    tell(session, result, shown(result!))
    if (result!.status.endsWith('_PENDING') && !session.json) remark(shell, `\n${advice(result!, options)}`)
    if (result!.status.endsWith('_FAILED')) throw new Ended(exit.failure)
  })
}

function itemOf(options: Options) {
  const { user, device, title, body, imageUrl, landingUrl, ttl, priority, at } = options
  if ((user === undefined) === (device === undefined)) throw usageFailure('Give either --user or --device.')
  if (title === undefined && body === undefined) throw usageFailure('Give --title, --body or both.')
  return {
    target: user === undefined ? { device_id: device } : { project_user_id: user },
    title,
    body,
    image_url: imageUrl,
    landing_url: landingUrl,
    send_at: at,
    ttl_seconds: ttl,
    priority
  }
}

const advice = ({ message_id: id }: DeliveryResult, { at }: Options): string =>
  at === undefined
    ? `Still pending, or the project is paused. See the outcome with \`tidings message get ${id}\`.`
    : `Waits until ${at}. \`tidings message cancel ${id}\` cancels it.`

const plain = (status: string) => status.replace('DELIVERY_RESULT_STATUS_', '').toLowerCase()

function shown({ message_id, status, additional_params: { devices = [], ...first } }: DeliveryResult): string {
  const head = record([
    ['Message', message_id],
    ['Status', plain(status)],
    ...(devices.length === 0 && first.failure_reason ? [['Reason', first.failure_reason] as const] : [])
  ])
  if (devices.length === 0) return head
  const rows = devices.map((one) => [one.device_id, plain(one.status), one.failure_reason])
  return `${head}\n\n${table(['device', 'status', 'reason'], rows)}`
}
