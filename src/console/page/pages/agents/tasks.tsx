import { Anchor, Group, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { TaskRecord } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { taskLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'
import { askerOf } from './asker.ts'
import { TaskState } from './task-state.tsx'

/** Tasks of agents, newest first. */
export function Tasks() {
  const projectId = useProjectId()
  const canExport = useHasRole('admin')
  return (
    <Stack>
      {canExport && (
        <Group>
          <Anchor
            href={`/manage/v1/projects/${encodeURIComponent(projectId)}/agent-tasks:export`}
            download="agent-tasks.ndjson"
          >
            Export all tasks
          </Anchor>
        </Group>
      )}
      <PagedList
        label="Tasks"
        pages={usePagedList<TaskRecord>('/agent-tasks')}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No tasks yet">Send a message in the playground, or connect an agent.</EmptyState>}
        columns={[
          {
            name: 'Request',
            show: ({ id, request }) => (
              <Anchor component={Link} to={taskLink(projectId, id)}>
                <Clip width={380}>{request || id}</Clip>
              </Anchor>
            )
          },
          { name: 'State', show: ({ state }) => <TaskState state={state} /> },
          { name: 'Asked by', show: ({ asked_by }) => <Clip width={220}>{askerOf(asked_by)}</Clip> },
          { name: 'Last change', show: ({ changed_at }) => <When at={changed_at} /> }
        ]}
      />
    </Stack>
  )
}
