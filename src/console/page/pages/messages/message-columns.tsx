import { Anchor, Badge, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { MessageEntry } from '../../../../wire.ts'
import type { Column } from '../../parts/columns.tsx'
import { campaignLink, messageLink, userLink } from '../../parts/links.ts'
import { Clip, When } from '../../parts/texts.tsx'

const colors: Record<string, string> = { accepted: 'teal', failed: 'red', skipped: 'gray', unknown: 'orange' }

export const MessageState = ({ state, failure_reason }: Pick<MessageEntry, 'state' | 'failure_reason'>) => (
  <Badge color={colors[state] ?? 'cyan'} variant="light" title={failure_reason ?? undefined}>
    {stateWords[state] ?? state}
  </Badge>
)

/** The words of a state, as the filter has them. */
export const stateWords: Record<string, string> = {
  queued: 'queued',
  handed: 'sending',
  unknown: 'outcome unknown',
  accepted: 'accepted',
  failed: 'failed',
  skipped: 'skipped'
}

export const kinds = new Map([
  ['activity-start', 'Live Activity started'],
  ['activity-update', 'Live Activity updated'],
  ['activity-end', 'Live Activity ended']
])

export const messageColumns = (projectId: string): Column<MessageEntry>[] => [
  {
    name: 'Time',
    show: ({ message_id, created_at }) => (
      <Anchor component={Link} to={messageLink(projectId, message_id)}>
        <When at={created_at} />
      </Anchor>
    )
  },
  {
    name: 'Content',
    show: ({ title, body, kind }) => (
      <Text size="sm" lineClamp={1}>
        {title ?? body ?? kinds.get(kind) ?? kind}
      </Text>
    )
  },
  {
    name: 'User',
    show: ({ project_user_id: id }) =>
      id === null || id === undefined ? (
        '–'
      ) : (
        <Anchor component={Link} to={userLink(projectId, id)}>
          <Clip width={180}>{id}</Clip>
        </Anchor>
      )
  },
  {
    name: 'Campaign',
    show: ({ campaign_id: id }) =>
      id === null || id === undefined ? (
        '–'
      ) : (
        <Anchor component={Link} to={campaignLink(projectId, id)}>
          <Clip width={160}>{id}</Clip>
        </Anchor>
      )
  },
  { name: 'Device', show: ({ device_id }) => (device_id ? <Clip width={160}>{device_id}</Clip> : '–') },
  { name: 'State', show: (item) => <MessageState {...item} /> },
  { name: 'Delivered', show: ({ delivered_at }) => (delivered_at ? 'yes' : '–') },
  { name: 'Tapped', show: ({ tapped_at }) => (tapped_at ? 'yes' : '–') }
]
