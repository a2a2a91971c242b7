import { Anchor, Badge, Group, Paper, Stack, Table, Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { TaskRecord } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { approvalLink, triggerLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Row } from '../../parts/row.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Lines, When } from '../../parts/texts.tsx'
import { PauseAgents } from '../settings/pause-button.tsx'
import { CancelTask } from './cancel-task.tsx'
import { TaskState } from './task-state.tsx'

const ended = ['completed', 'failed', 'rejected', 'canceled']

/** The record of one task: who asked, what was understood and shown, who agreed, and what was done. */
export function TaskPage() {
  const projectId = useProjectId()
  const { taskId = '' } = useParams({ strict: false }) as { taskId?: string }
  const task = useQuery({
    queryKey: ['agent-task', projectId, taskId],
    queryFn: () => project<TaskRecord>(projectId, 'GET', `/agent-tasks/${encodeURIComponent(taskId)}`),
    meta: { kinds: ['tasks', 'approvals'] }
  })
  return <Loaded query={task}>{(found) => <Account task={found} />}</Loaded>
}

const Account = ({ task }: { task: TaskRecord }) => (
  <PageLayout
    title="Task"
    about={task.request}
    actions={
      <>
        {!ended.includes(task.state) && <CancelTask id={task.id} />}
        <PauseAgents />
      </>
    }
  >
    <Panel title="Asked by">
      <Table withRowBorders={false}>
        <Table.Tbody>
          <Row name="Agent">{task.asked_by.agent ?? 'not named'}</Row>
          <Row name="Key">{task.asked_by.key_name ?? task.asked_by.actor ?? 'not recorded'}</Row>
          <Row name="State">
            <TaskState state={task.state} />
          </Row>
          <Row name="Begun">
            <When at={task.begun_at} />
          </Row>
          <Row name="Last change">
            <When at={task.changed_at} />
          </Row>
          <Row name="Task">{task.id}</Row>
          <Row name="Conversation">{task.context_id}</Row>
        </Table.Tbody>
      </Table>
    </Panel>
    <Panel title="What happened">
      <Timeline bulletSize={14} lineWidth={2} active={task.steps.length}>
        {task.steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added
          <Timeline.Item key={index} title={<StepTitle step={step} />}>
            <StepContent step={step} />
          </Timeline.Item>
        ))}
      </Timeline>
    </Panel>
  </PageLayout>
)

type Step = TaskRecord['steps'][number]

const StepTitle = ({ step: { kind, state, at, name } }: { step: Step }) => (
  <Group gap="xs">
    {kind === 'message' && <Badge variant="light">Agent said</Badge>}
    {kind === 'state' && <TaskState state={state ?? ''} />}
    {kind === 'result' && (
      <Badge variant="light" color="teal">
        {name}
      </Badge>
    )}
    {at !== null && (
      <Text size="xs" c="dimmed">
        <When at={at} />
      </Text>
    )}
  </Group>
)

const StepContent = ({ step: { text, data } }: { step: Step }) => (
  <Stack gap="xs" miw={0}>
    {text !== null && (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {text}
      </Text>
    )}
    {data.map((one, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
      <Paper key={index} style={{ overflowX: 'auto' }}>
        <Lines>{JSON.stringify(one, null, 2)}</Lines>
        <Links data={one} />
      </Paper>
    ))}
  </Stack>
)

/** Links to what the data names. */
function Links({ data }: { data: unknown }) {
  const projectId = useProjectId()
  const { triggerId, approvalId } = (data ?? {}) as { triggerId?: unknown; approvalId?: unknown }
  return (
    <Group gap="md">
      {typeof triggerId === 'string' && (
        <Anchor size="sm" component={Link} to={triggerLink(projectId, triggerId)}>
          Open trigger
        </Anchor>
      )}
      {typeof approvalId === 'string' && (
        <Anchor size="sm" component={Link} to={approvalLink(projectId, approvalId)}>
          Open approval
        </Anchor>
      )}
    </Group>
  )
}
