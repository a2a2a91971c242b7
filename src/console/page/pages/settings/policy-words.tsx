import { List, Text } from '@mantine/core'
import type { Policy } from '../../../../wire.ts'
import { plural } from '../../parts/texts.tsx'

/** What an agent may do with a key, in sentences. */
export function policyWords(policy: Policy | null): string[] {
  if (policy === null) return ['No policy: an agent with this key may do everything, for any number of users.']
  const { skills, max_recipients, max_recipients_per_day, approval_above, confirm_broadcasts, dry_run, quiet_hours } =
    policy
  return [
    ...(dry_run ? ['Reads and previews only; sends and changes nothing.'] : []),
    skills ? `May use only: ${skills.join(', ')}.` : 'May use every skill.',
    ...(approval_above === null
      ? ['Needs no approval.']
      : [
          approval_above === 0
            ? 'Every send needs the approval of a person.'
            : `Sends to more than ${plural(approval_above, 'user')} need the approval of a person.`
        ]),
    ...(max_recipients === null ? [] : [`Reaches at most ${plural(max_recipients, 'user')} with one action.`]),
    ...(max_recipients_per_day === null
      ? []
      : [`Reaches at most ${plural(max_recipients_per_day, 'user')} within 24 hours.`]),
    ...(confirm_broadcasts ? ['Must confirm what it saw before it sends to everyone.'] : []),
    ...(quiet_hours ? [`Sends nothing from ${quiet_hours.from} to ${quiet_hours.to} (${quiet_hours.timezone}).`] : [])
  ]
}

export const PolicyInWords = ({ policy }: { policy: Policy | null }) =>
  policy === null ? (
    <Text size="sm">{policyWords(null)[0]}</Text>
  ) : (
    <List size="sm">
      {policyWords(policy).map((sentence) => (
        <List.Item key={sentence}>{sentence}</List.Item>
      ))}
    </List>
  )
