import { type Command, InvalidArgumentError } from 'commander'
import type { Project } from '../../wire.ts'
import { choice } from '../session.ts'

type Limit = Project['message_limits'][number]

/** Rules over all campaigns of a project, as options. */
export interface RuleOptions {
  messageLimit?: Limit[] | 'none'
  quietHours?: { from: string; to: string } | 'none'
  quietTimezone?: string
  quietAction?: string
  identityVerification?: string
  intake?: string
}

function messageLimit(text: string, before: Limit[] | 'none' = []): Limit[] | 'none' {
  if (text === 'none') return text
  const [, count, within, topic] = /^(\d{1,7})\/(\w+)(?:\/([a-z0-9_-]+))?$/.exec(text) ?? []
  if (count === undefined || within === undefined)
    throw new InvalidArgumentError('Give a number and a duration, 3/24h, and a topic if it is for one, 1/7d/offers.')
  const limit = { count: Number(count), within, ...(topic !== undefined && { topic }) }
  return [...(before === 'none' ? [] : before), limit]
}

function quietHours(text: string): { from: string; to: string } | 'none' {
  if (text === 'none') return text
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? []
  if (from === undefined || to === undefined) throw new InvalidArgumentError('Give two times, 22:00-08:00, or none.')
  return { from, to }
}

export const ruleOptions = (command: Command): Command =>
  command
    .option(
      '--message-limit <limit>',
      'Most messages to one user over all campaigns: 3/24h, or 1/7d/offers for a topic; may be repeated; none',
      messageLimit
    )
    .option('--quiet-hours <hours>', 'Over all campaigns: 22:00-08:00, or none', quietHours)
    .option('--quiet-timezone <zone>', 'device (default), user or an IANA name; with --quiet-hours')
    .addOption(choice('--quiet-action <action>', 'What happens then; with --quiet-hours', ['hold', 'skip']))
    .addOption(choice('--identity-verification <state>', 'Whether apps must prove who their user is', ['on', 'off']))
    .addOption(choice('--intake <state>', 'Whether analytics SDKs may send to /v1', ['on', 'off']))

/** The options in the names of the API, without those that were left out. */
export function rulesOf(options: RuleOptions) {
  const { messageLimit: limits, quietHours: hours, quietTimezone, quietAction, identityVerification, intake } = options
  const more = { ...(quietTimezone && { timezone: quietTimezone }), ...(quietAction && { action: quietAction }) }
  return {
    ...(limits !== undefined && { message_limits: limits === 'none' ? null : limits }),
    ...(hours !== undefined && { quiet_hours: hours === 'none' ? null : { ...hours, ...more } }),
    ...(identityVerification !== undefined && { identity_verification: identityVerification === 'on' }),
    ...(intake !== undefined && { intake: intake === 'on' })
  }
}

export const shownLimits = ({ message_limits }: Project): string =>
  message_limits
    .map(({ count, within, topic }) => `${count} in ${within}${topic === undefined ? '' : ` of ${topic}`}`)
    .join(', ') || 'no limit'

export const shownHours = ({ quiet_hours }: Project): string =>
  quiet_hours === null
    ? 'none'
    : `${quiet_hours.from} to ${quiet_hours.to} (${quiet_hours.timezone}), ${quiet_hours.action}`
