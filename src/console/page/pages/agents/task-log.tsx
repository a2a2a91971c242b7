import { Badge, Group, Paper, Stack, Text, Timeline } from '@mantine/core'
import type { TaskRecord } from '../../../../wire.ts'
import { Lines, When } from '../../parts/texts.tsx'
import { TaskState } from './task-state.tsx'

type Step = TaskRecord['steps'][number]

/** Every message, state and result of a task as the service stored it. */
export const TaskLog = ({ task }: { task: TaskRecord }) => (
  <Timeline bulletSize={14} lineWidth={2} active={task.steps.length} mt="md">
    {task.steps.map((step, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added
      <Timeline.Item key={index} title={<StepTitle step={step} />}>
        <StepContent step={step} />
      </Timeline.Item>
    ))}
  </Timeline>
)

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
      </Paper>
    ))}
  </Stack>
)
