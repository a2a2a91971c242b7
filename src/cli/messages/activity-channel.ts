import type { Command } from 'commander'
import type { ActivityChannel, ActivityChannelWithChange, DeliveryResults } from '../../wire.ts'
import { Ended, exit, usageFailure } from '../exit.ts'
import { record, time } from '../output.ts'
import { jsonProperty, textProperty } from '../properties.ts'
import { type Resource, resource } from '../resource.ts'
import { choice, examples, tell, wholeNumber } from '../session.ts'
import { remark, type Shell } from '../shell.ts'

const anId = '0199c0de-0000-7000-8000-000000000001'

export function declare(command: Command, shell: Shell): void {
  examples(command, [
    'tidings activity-channel create MatchAttributes',
    `tidings activity-channel update ${anId} home=1 away=0`,
    `tidings activity-channel end ${anId} home=2 away=1`
  ])
  const channels = resource(command, shell, { name: 'channel', path: '/api/v1/live-activity-channels' })

  declareCreate(channels)
  channels.list<ActivityChannel>({
    about: 'List the broadcast channels of a project',
    examples: ['tidings activity-channel list', 'tidings activity-channel list --json'],
    usual: 100,
    columns: [
      ['channel', ({ channel_id }) => channel_id],
      ['type', ({ attributes_type }) => attributes_type],
      ['app', ({ app }) => app],
      ['environment', ({ push_environment }) => push_environment],
      ['storage', ({ storage }) => storage],
      ['status', ({ status }) => status]
    ],
    none: 'No channels yet. Create one with `tidings activity-channel create <attributes-type>`.'
  })
  channels.show<ActivityChannelWithChange>({
    usage: 'show <channel>',
    about: 'Show a channel with its newest state and change',
    examples: [`tidings activity-channel show ${anId}`],
    text: shownWithChange
  })
  declareChange(channels, 'update', 'Change all Live Activities that listen to a channel')
  declareChange(channels, 'end', 'End all Live Activities that listen to a channel')
  declareDelete(channels)
}

function declareDelete(channels: Resource): void {
  channels.verb(
    {
      usage: 'delete <channel>',
      about: 'Delete a channel, here and at Apple',
      examples: [`tidings activity-channel delete ${anId}`],
      more: 'Activities that listen to it get no more changes. End them first.'
    },
    async (session, _, id: string) => {
      // The API lets the deletion of an absent channel succeed; here a mistyped id is reported.
      await session.client.send('GET', channels.at(session, id))
      await session.client.remove(channels.at(session, id))
      tell(session, { deleted: id }, `Deleted the channel ${id}.`)
    }
  )
}

interface CreateOptions {
  app?: string
  environment?: string
  storage: string
}

function declareCreate(channels: Resource): void {
  channels.verb<CreateOptions>(
    {
      usage: 'create <attributes-type>',
      about: 'Create a broadcast channel for Live Activities of one type',
      examples: [
        'tidings activity-channel create MatchAttributes',
        'tidings activity-channel create MatchAttributes --environment sandbox --storage none'
      ],
      more: 'The type is the name of the Swift type of the attributes.',
      options: (create) =>
        create
          .option('--app <bundle-id>', 'Bundle id (default: that of the APNs credential)')
          .addOption(choice('--environment <name>', 'production (the default) or sandbox', ['production', 'sandbox']))
          .addOption(
            choice('--storage <policy>', 'Whether Apple keeps the newest change for phones that come later', [
              'most_recent',
              'none'
            ]).default('most_recent')
          )
    },
    async (session, { app, environment, storage }, type: string) => {
      const body = { attributes_type: type, app, push_environment: environment, storage }
      const made = await session.client.json<ActivityChannel>('POST', channels.at(session), { body })
      tell(session, made, shown(made))
    }
  )
}

interface ChangeOptions {
  string?: string[]
  alertTitle?: string
  alertBody?: string
  priority?: string
  ttl?: number
  staleDate?: string
  dismissalDate?: string
  idempotencyKey?: string
}

function declareChange(channels: Resource, verb: 'update' | 'end', about: string): void {
  channels.verb<ChangeOptions>(
    {
      usage: `${verb} <channel> [state...]`,
      about,
      examples: [
        `tidings activity-channel ${verb} ${anId} home=1 away=0`,
        `tidings activity-channel ${verb} ${anId} home=1 --alert-title Goal --alert-body 1:0`
      ],
      more: 'The whole new state is written name=value; a value that is JSON is read as JSON.\nWaits up to 10 seconds for Apple. Ends with 1 if it failed.',
      options: (command) => {
        command
          .option('--string <name=value...>', 'A part of the state whose value is text')
          .option('--alert-title <text>', 'Title of an alert to show with it')
          .option('--alert-body <text>', 'Text of that alert')
          .addOption(choice('--priority <priority>', 'high (the default) or normal', ['high', 'normal']))
          .option('--ttl <seconds>', 'Time to live in seconds', wholeNumber(1, 2_419_200))
          .option('--stale-date <time>', 'From when on it counts as out of date')
          .option('--idempotency-key <key>', 'Makes the command safe to repeat: it sends once')
        if (verb === 'end') command.option('--dismissal-date <time>', 'When it leaves the screen')
      },
      check: ({ alertTitle, alertBody }) => {
        if ((alertTitle === undefined) !== (alertBody === undefined))
          throw usageFailure('Give both --alert-title and --alert-body.')
      }
    },
    async (session, options, id: string, state: string[]) => {
      const body = bodyOf(options, state)
      const key = options.idempotencyKey
      const { delivery_results: results } = await session.client.json<DeliveryResults>(
        'POST',
        channels.at(session, id, `:${verb}`),
        { body, ...(key !== undefined && { headers: { 'idempotency-key': key }, repeatable: true }) }
      )
      const [result] = results
      const { status, message_id, additional_params } = result!
      const word = status.replace('DELIVERY_RESULT_STATUS_', '').toLowerCase()
      const reason = additional_params.failure_reason
      tell(
        session,
        result,
        record([['Message', message_id], ['Status', word], ...(reason ? [['Reason', reason] as const] : [])])
      )
      if (word === 'pending' && !session.json)
        remark(session.shell, `\nStill pending. See the outcome with \`tidings activity-channel show ${id}\`.`)
      if (word === 'failed') throw new Ended(exit.failure)
    }
  )
}

function bodyOf(options: ChangeOptions, state: string[]) {
  const { string = [], alertTitle, alertBody, priority, ttl, staleDate, dismissalDate } = options
  return {
    content_state: Object.fromEntries([...state.map(jsonProperty), ...string.map(textProperty)]),
    ...(alertTitle !== undefined && { alert: { title: alertTitle, body: alertBody } }),
    priority,
    ttl_seconds: ttl,
    stale_date: momentOf(staleDate),
    dismissal_date: momentOf(dismissalDate)
  }
}

/** The API takes Unix seconds as a number. */
const momentOf = (text: string | undefined) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : text)

const fields = (channel: ActivityChannel) =>
  [
    ['Channel', channel.channel_id],
    ["Apple's id", channel.apns_channel_id],
    ['Type', channel.attributes_type],
    ['App', channel.app],
    ['Environment', channel.push_environment],
    ['Storage', channel.storage],
    ['Status', channel.status],
    ...(channel.failure_reason ? [['Reason', channel.failure_reason] as const] : [])
  ] as const

const shown = (channel: ActivityChannel): string => record(fields(channel))

const shownWithChange = (channel: ActivityChannelWithChange): string => {
  const { last_change: change } = channel
  return record([
    ...fields(channel),
    ['State', channel.content_state && JSON.stringify(channel.content_state)],
    ['Last change', change && `${change.event}, ${change.status.replace('DELIVERY_RESULT_STATUS_', '').toLowerCase()}`],
    ...(change?.failure_reason ? [['Why', change.failure_reason] as const] : []),
    ['Changed', change && time(change.created_at)]
  ])
}
