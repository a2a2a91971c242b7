import { Anchor, Group, Stack, Table, Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Approval, Page, TaskRecord } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { pageLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Row } from '../../parts/row.tsx'
import { Loaded } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { PauseAgents } from '../settings/pause-button.tsx'
import { CancelTask } from './cancel-task.tsx'
import { TaskLog } from './task-log.tsx'
import { TaskState } from './task-state.tsx'
import { Agreed, Asked, Done, Shown, Understood } from './task-story.tsx'

const ended = ['completed', 'failed', 'rejected', 'canceled']

/** The record of one task: who asked, what was understood and shown, who agreed, and what was done. */
export function TaskPage() {
  const projectId = useProjectId()
  const { taskId = '' } = useParams({ strict: false }) as { taskId?: string }
  const task = useQuery({
    queryKey: ['agent-task', projectId, taskId],
    queryFn: () => project<TaskRecord>(projectId, 'GET', `/agent-tasks/${encodeURIComponent(taskId)}`),
    meta: { kinds: ['tasks'] }
  })
  const approvals = useQuery({
    queryKey: ['approvals-of-task', projectId, taskId],
    queryFn: () => project<Page<Approval>>(projectId, 'GET', '/approvals', { query: { task_id: taskId } }),
    meta: { kinds: ['approvals'] }
  })
  return (
    <Loaded query={task}>
      {(found) => <Account task={found} approvals={approvals.data?.items.toReversed() ?? []} />}
    </Loaded>
  )
}

const Account = ({ task, approvals }: { task: TaskRecord; approvals: Approval[] }) => (
  <PageLayout
    title="Task"
    about={task.request}
    docs="guides/agents"
    actions={
      <>
        <TaskState state={task.state} />
        {!ended.includes(task.state) && <CancelTask id={task.id} />}
        <PauseAgents />
      </>
    }
  >
    <Story task={task} approvals={approvals} />
    <Facts task={task} />
    <details>
      <summary>Everything in order, with JSON</summary>
      <TaskLog task={task} />
    </details>
  </PageLayout>
)

/** The five steps of a task. A step that has not happened says so. */
function Story({ task, approvals }: { task: TaskRecord; approvals: Approval[] }) {
  const steps = [
    ['Asked', <Asked key="asked" task={task} />],
    ['Understood', <Understood key="understood" task={task} />],
    ['Shown', <Shown key="shown" task={task} approvals={approvals} />],
    ['Agreed', <Agreed key="agreed" task={task} approvals={approvals} />],
    ['Done', <Done key="done" task={task} />]
  ] as const
  return (
    <Panel title="What happened">
      <Timeline bulletSize={16} lineWidth={2} active={ended.includes(task.state) ? steps.length : 2}>
        {steps.map(([title, shown]) => (
          <Timeline.Item key={title} title={title} data-step={title}>
            <Stack gap="xs" miw={0} mt={4}>
              {shown}
            </Stack>
          </Timeline.Item>
        ))}
      </Timeline>
    </Panel>
  )
}

function Facts({ task }: { task: TaskRecord }) {
  const projectId = useProjectId()
  return (
    <Panel title="Asked by">
      <Table withRowBorders={false}>
        <Table.Tbody>
          <Row name="Agent">{task.asked_by.agent ?? 'not named'}</Row>
          <Row name="Key">{task.asked_by.key_name ?? task.asked_by.actor_name ?? 'not recorded'}</Row>
          <Row name="Begun">
            <When at={task.begun_at} />
          </Row>
          <Row name="Last change">
            <When at={task.changed_at} />
          </Row>
          <Row name="Task">{task.id}</Row>
          <Row name="Conversation">
            <Group gap="xs">
              <Text size="sm">{task.context_id}</Text>
              <Anchor
                component={Link}
                size="sm"
                to={pageLink(projectId, 'agents')}
                search={{ context: task.context_id } as never}
              >
                Open in the playground
              </Anchor>
            </Group>
          </Row>
        </Table.Tbody>
      </Table>
    </Panel>
  )
}
