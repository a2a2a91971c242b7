import { Button, Group, Select } from '@mantine/core'
import type { TaskRecord } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { timeText } from '../../parts/texts.tsx'

/** Earlier conversations, newest first, each by its first message. */
export function Conversations({ open, current }: { open: (contextId: string | null) => void; current: string }) {
  const { data } = usePagedList<TaskRecord>('/agent-tasks')
  const tasks = data?.pages.flatMap(({ items }) => items) ?? []
  const first = new Map(tasks.map((task) => [task.context_id, task]))
  const options = [...first.values()].map(({ context_id, request, changed_at }) => ({
    value: context_id,
    label: `${request || 'Conversation'} · ${timeText(new Date(changed_at))}`
  }))
  const known = options.some(({ value }) => value === current)
  return (
    <Group align="end">
      <Select
        label="Conversation"
        placeholder="New conversation"
        searchable
        data={current && !known ? [{ value: current, label: 'This conversation' }, ...options] : options}
        value={current || null}
        onChange={open}
        flex={1}
        miw={200}
      />
      {current !== '' && (
        <Button variant="default" onClick={() => open(null)}>
          Start over
        </Button>
      )}
    </Group>
  )
}
