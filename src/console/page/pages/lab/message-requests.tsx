import { Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { InboxItem, Page } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProject, useProjectId } from '../../api/session.ts'
import { RequestDetail } from './request-detail.tsx'
import { RequestLine } from './requests.tsx'

/** What the simulated gateways saw of a message. Live projects have no record of it: the gateways are not ours. */
export function MessageRequests({ messageId }: { messageId: string }) {
  const projectId = useProjectId()
  const simulated = useProject()?.mode === 'simulator'
  const [shown, setShown] = useState<string>()
  const requests = useQuery({
    queryKey: ['message-requests', projectId, messageId],
    queryFn: () =>
      project<Page<InboxItem>>(projectId, 'GET', '/simulator/inbox', { query: { message_id: messageId, limit: 50 } }),
    enabled: simulated,
    meta: { kinds: ['messages'] }
  })
  if (!simulated || !requests.data) return null
  const { items } = requests.data
  return (
    <Stack gap="xs" component="section" aria-label="Gateway requests">
      <Title order={2} size="h4">
        Gateway requests
      </Title>
      {items.length === 0 && (
        <Text size="sm" c="dimmed">
          No request is kept. The simulated gateways keep the last 1,000.
        </Text>
      )}
      {items.map((item) => (
        <RequestLine key={item.id} item={item} show={setShown} />
      ))}
      <RequestDetail id={shown} close={() => setShown(undefined)} />
    </Stack>
  )
}
