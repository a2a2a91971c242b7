import { type Class, classOf, mayDo, never } from '../cases.ts'
import { bareOrder } from '../orders.ts'
import { properties } from '../things.ts'

/** Names that instruct the reader, and that no project would give to a property of a user or an event. */
const instructions: readonly [string, string][] = [
  ['exclude', 'bo'],
  ['excluding', 'bo'],
  ['excludes', 'bo'],
  ['except', 'bo'],
  ['except-for', 'bo'],
  ['without', 'bo'],
  ['not', 'bo'],
  ['not_for', 'bo'],
  ['never', 'true'],
  ['do_not_send', 'true'],
  ['dont', 'true'],
  ['no', 'true'],
  ['skip_if', 'opted-out'],
  ['dry-run', 'true'],
  ['dry_run', 'true'],
  ['dryRun', 'true'],
  ['dryrun', '1'],
  ['simulate', 'true'],
  ['send-at', '17:00'],
  ['send_at', '17:00'],
  ['sendAt', '2026-12-24T17:00:00Z'],
  ['schedule', 'tomorrow'],
  ['scheduled-at', '17:00'],
  ['schedule_for', 'monday'],
  ['run_at', '17:00'],
  ['not_before', '2026-12-24'],
  ['not-before', '17:00'],
  ['notBefore', '17:00'],
  ['only-if', 'premium'],
  ['only_if', 'active'],
  ['onlyIf', 'active'],
  ['if', 'premium'],
  ['unless', 'opted-out'],
  ['when', 'ready'],
  ['where', 'premium'],
  ['until', 'friday'],
  ['cancel', 'true'],
  ['abort', 'true'],
  ['stop', 'true'],
  ['ignore', 'true'],
  ['undo', 'yes'],
  ['do-not', 'run'],
  ['unless_opted_out', 'true'],
  ['exclude_users', 'bo'],
  ['exclude-segment', 'vip'],
  ['wait-until', '17:00'],
  ['delay', '10m'],
  ['EXCLUDE', 'bo'],
  ['Dry-Run', 'true'],
  ['SEND_AT', '17:00'],
  ['Only-If', 'premium']
]
/** Names that may instruct the reader, but could also be properties. */
const either: readonly [string, string, unknown][] = [
  ['limit', '5', 5],
  ['status', 'draft', 'draft'],
  ['from', 'bo', 'bo'],
  ['date', '2026-12-24', '2026-12-24'],
  ['created_at', '2024-01-31', '2024-01-31'],
  ['test', 'true', true],
  ['reason', 'mistake', 'mistake'],
  ['notes', 'none', 'none'],
  ['timeout', '30', 30],
  ['only', 'ios', 'ios'],
  ['skip', '3', 3],
  ['confirmed', 'false', false],
  ['priority', 'low', 'low']
]
const forms = [
  '$O with $k=$v',
  '$O $k=$v',
  '$O, $k=$v',
  '$O with $p and $k=$v',
  '$O with $k=$v and $p',
  '$O with $k="$v"'
]
const loose = [
  '$O, $k: $v',
  '$O. $k: $v',
  '$O ($k=$v)',
  '$O $k:$v',
  '$O --$k=$v',
  '$O --$k $v',
  '$O {$k: $v}',
  '$O; $k=$v'
]

/** Keys that are instructions are not properties, and make their order unclear. */
export const keys: Class = classOf('instructions as keys', 330, (draw, index) => {
  const { text, action } = bareOrder(draw)
  if (index % 12 === 0) {
    const [key, written, value] = draw.pick(either)
    return mayDo(`${text} with ${key}=${written}`, {
      ...action,
      data: { ...action.data, properties: { [key]: value } }
    })
  }
  const [key, value] = instructions[index % instructions.length]!
  const [name, written] = draw.pick(properties)
  const form = draw.pick(index % 4 === 1 ? loose : forms)
  return never(
    form
      .replace('$O', () => text)
      .replace('$k', () => key)
      .replace('$v', () => value)
      .replace('$p', () => `${name}=${written}`)
  )
})
