import type { MessageEntry } from '../../../../wire.ts'
import type { CallOptions } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { messageColumns } from './message-columns.tsx'

export const useMessages = (query: CallOptions['query']) => usePagedList<MessageEntry>('/messages', query)

export function MessageList({
  query,
  filtered = false,
  ofTrigger = false
}: {
  query: CallOptions['query']
  /** Whether filters are set, which may hide messages. */
  filtered?: boolean
  ofTrigger?: boolean
}) {
  const projectId = useProjectId()
  return (
    <PagedList
      label="Messages"
      pages={useMessages(query)}
      keyOf={({ message_id, device_id }) => message_id + device_id}
      empty={
        filtered ? (
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
