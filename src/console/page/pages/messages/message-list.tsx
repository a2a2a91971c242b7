import { Anchor, Badge, Text, Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CallOptions } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { messageLink } from '../../parts/links.ts'
import { type Column, PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

/** A message to one device, and what became of it. */
export interface MessageItem {
  message_id: string
  device_id: string
  status: string
  state: string
  gateway_message_id: string
  failure_reason: string
  trigger_id: string | null
  campaign_id: string | null
  user_id: string | null
  project_user_id: string | null
  kind: string
  title: string | null
  body: string | null
  created_at: string
  handed_at: string | null
  settled_at: string | null
  delivered_at: string | null
  tapped_at: string | null
}

const colors: Record<string, string> = { accepted: 'teal', failed: 'red', skipped: 'gray', unknown: 'orange' }

export const MessageState = ({ state, failure_reason }: Pick<MessageItem, 'state' | 'failure_reason'>) => (
  <Tooltip label={failure_reason} disabled={!failure_reason} multiline maw={400}>
    <Badge color={colors[state] ?? 'cyan'} variant="light">
      {state}
    </Badge>
  </Tooltip>
)

const kinds = new Map([
  ['activity-start', 'Live Activity started'],
  ['activity-update', 'Live Activity updated'],
  ['activity-end', 'Live Activity ended']
])

export const messageColumns = (projectId: string): Column<MessageItem>[] => [
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
  { name: 'User', show: ({ project_user_id }) => project_user_id ?? '–' },
  { name: 'Campaign', show: ({ campaign_id }) => campaign_id ?? '–' },
  { name: 'Device', show: ({ device_id }) => device_id || '–' },
  { name: 'State', show: (item) => <MessageState {...item} /> },
  { name: 'Delivered', show: ({ delivered_at }) => (delivered_at ? 'yes' : '–') },
  { name: 'Tapped', show: ({ tapped_at }) => (tapped_at ? 'yes' : '–') }
]

export const useMessages = (query: CallOptions['query'], refetchMs: number | false = false) =>
  usePagedList<MessageItem>('/api/v1/messages', query, refetchMs)

export function MessageList({
  query,
  refetchMs = false,
  narrowed = false,
  ofTrigger = false
}: {
  query: CallOptions['query']
  refetchMs?: number | false
  /** Whether a filter may be what hides them. */
  narrowed?: boolean
  ofTrigger?: boolean
}) {
  const projectId = useProjectId()
  return (
    <PagedList
      label="Messages"
      pages={useMessages(query, refetchMs)}
      keyOf={({ message_id, device_id }) => message_id + device_id}
      empty={
        narrowed ? (
          <EmptyState title="No matching messages">Clear a filter to see more.</EmptyState>
        ) : ofTrigger ? (
          <EmptyState title="No messages created">
            Skipped users get no message. The reasons are listed above.
          </EmptyState>
        ) : (
          <EmptyState title="No messages yet">Messages appear here, one row per device.</EmptyState>
        )
      }
      columns={messageColumns(projectId)}
    />
  )
}
