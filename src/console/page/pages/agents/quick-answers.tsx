import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { TaskRecord } from '../../../../wire.ts'
import { useProjectId } from '../../api/session.ts'
import { approvalLink } from '../../parts/links.ts'
import { CancelTask } from './cancel-task.tsx'

const last = ({ steps }: TaskRecord) => steps.findLast(({ kind }) => kind === 'state')

const fieldIn = (data: unknown[], name: string): string | undefined =>
  data
    .map((one) => (one as Record<string, unknown> | null)?.[name])
    .find((value): value is string => typeof value === 'string')

/** Answers to the open question as buttons: yes and no where it asks for that. */
export function QuickAnswers({ task, answer }: { task: TaskRecord; answer: ((text: string) => void) | undefined }) {
  const projectId = useProjectId()
  const { data = [], text } = last(task) ?? {}
  const approvalId = fieldIn(data, 'approvalId')
  if (approvalId)
    return (
      <Alert color="orange" role="status" title="Waiting for approval">
        <Group justify="space-between">
          <Text size="sm">
            A person has to approve this first.{' '}
            <Anchor component={Link} size="sm" to={approvalLink(projectId, approvalId)}>
              Open approval
            </Anchor>
          </Text>
          <CancelTask id={task.id} />
        </Group>
      </Alert>
    )
  const confirms = fieldIn(data, 'confirmationId') !== undefined || /\byes or no\b/i.test(text ?? '')
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        Waiting for your reply. Your next message continues this task.
      </Text>
      {answer && (
        <Group gap="xs" role="group" aria-label="Quick answers">
          {confirms && (
            <Button size="xs" radius="xl" onClick={() => answer('Yes')}>
              Yes
            </Button>
          )}
          <Button size="xs" radius="xl" variant="default" onClick={() => answer('No')}>
            {confirms ? 'No' : 'Never mind'}
          </Button>
        </Group>
      )}
    </Stack>
  )
}
