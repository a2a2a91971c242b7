import { SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { MessageEntry, MessageMinute, Page } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { Panel } from '../../parts/panel.tsx'
import { Loaded } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { messageColumns } from '../messages/message-columns.tsx'
import { MinuteChart } from './minute-chart.tsx'

const counters = ['sent', 'failed', 'delivered', 'tapped'] as const

export function LastHour() {
  const projectId = useProjectId()
  const minutes = useQuery({
    queryKey: ['minutes', projectId],
    queryFn: () => project<{ items: MessageMinute[] }>(projectId, 'GET', '/messages:minutes', { query: { last: 60 } }),
    meta: { kinds: ['messages'] },
    // Minutes pass without changes, too.
    refetchInterval: 60_000
  })
  return (
    <Panel title="Last hour">
      <Loaded query={minutes}>
        {({ items }) => (
          <Stack>
            <SimpleGrid cols={{ base: 2, sm: 4 }}>
              {counters.map((name) => (
                <div key={name}>
                  <Text size="xs" c="dimmed" tt="capitalize">
                    {name}
                  </Text>
                  <Text fw={700} size="xl" data-counter={name}>
                    {items.reduce((sum, item) => sum + item[name], 0).toLocaleString()}
                  </Text>
                </div>
              ))}
            </SimpleGrid>
            <MinuteChart minutes={items} />
          </Stack>
        )}
      </Loaded>
    </Panel>
  )
}

const shownColumns = new Set(['Time', 'Content', 'User', 'State'])

export function RecentMessages() {
  const projectId = useProjectId()
  const messages = useQuery({
    queryKey: ['recent messages', projectId],
    queryFn: () => project<Page<MessageEntry>>(projectId, 'GET', '/api/v1/messages', { query: { limit: 8 } }),
    meta: { kinds: ['messages'] }
  })
  return (
    <Panel title="Recent messages" mt="md">
      <Loaded query={messages}>
        {({ items }) =>
          items.length === 0 ? (
            <Text c="dimmed">No messages yet. Send your first push above.</Text>
          ) : (
            <SimpleTable
              label="Recent messages"
              items={items}
              keyOf={({ message_id, device_id }) => message_id + device_id}
              columns={messageColumns(projectId).filter(({ name }) => shownColumns.has(name))}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}
