import { Accordion, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { EmptyState, ErrorAlert, Loading } from '../../parts/states.tsx'
import { Lines, When } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { type Part, rpc, stateOf, type Task } from './a2a.ts'

const colors = new Map([
  ['completed', 'teal'],
  ['failed', 'red'],
  ['rejected', 'red'],
  ['canceled', 'gray'],
  ['input-required', 'orange'],
  ['auth-required', 'orange']
])
export const TaskState = ({ state }: { state: string }) => (
  <Badge color={colors.get(state) ?? 'cyan'} variant="light">
    {state}
  </Badge>
)

interface TaskPage {
  tasks: Task[]
  nextPageToken: string
}

/** Tasks of agents with their history and artifacts, newest first. */
export function Tasks() {
  const projectId = useProjectId()
  const [open, setOpen] = useUrlState('task')
  const tasks = useInfiniteQuery({
    queryKey: ['tasks', projectId],
    queryFn: ({ pageParam }) =>
      rpc<TaskPage>(projectId, 'ListTasks', {
        pageSize: 50,
        includeArtifacts: true,
        historyLength: 20,
        ...(pageParam && { pageToken: pageParam })
      }),
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    refetchInterval: 3_000
  })
  if (tasks.error && !tasks.data) return <ErrorAlert error={tasks.error} retry={tasks.refetch} />
  if (!tasks.data) return <Loading />
  const found = tasks.data.pages.flatMap((page) => page.tasks)
  if (found.length === 0)
    return <EmptyState title="No tasks yet">Send a message in the playground, or connect an agent.</EmptyState>
  return (
    <Stack>
      <Accordion variant="separated" value={open || null} onChange={setOpen} order={2}>
        {found.map((task) => (
          <Accordion.Item key={task.id} value={task.id}>
            <Accordion.Control>
              <Group>
                <TaskState state={stateOf(task)} />
                <Text size="sm">{summaryOf(task)}</Text>
                <Text size="sm" c="dimmed">
                  <When at={task.status.timestamp} />
                </Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>{open === task.id && <TaskDetail task={task} />}</Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {tasks.hasNextPage && (
        <Button variant="default" size="xs" w="fit-content" onClick={() => void tasks.fetchNextPage()}>
          Load more
        </Button>
      )}
    </Stack>
  )
}

/** The request of a task in one line. */
function summaryOf({ history, artifacts, id }: Task): string {
  const [part] = history?.[0]?.parts ?? []
  const skill = (part?.data as { skill?: unknown } | undefined)?.skill
  return (part?.text ?? (typeof skill === 'string' ? skill : artifacts?.[0]?.name) ?? id).slice(0, 120)
}

function TaskDetail({ task }: { task: Task }) {
  const projectId = useProjectId()
  const canCancel = useHasRole('editor')
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => rpc(projectId, 'CancelTask', { id: task.id }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tasks', projectId] })
  })
  const ended = ['completed', 'failed', 'rejected', 'canceled'].includes(stateOf(task))
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        Task {task.id}, context {task.contextId}
      </Text>
      {task.status.message && <MessageCard from="Status" parts={task.status.message.parts} />}
      <Title order={3} size="h5">
        History
      </Title>
      {(task.history ?? []).map(({ messageId, role, parts }) => (
        <MessageCard key={messageId} from={/user/i.test(role) ? 'Agent' : 'Tidings'} parts={parts} />
      ))}
      <Title order={3} size="h5">
        Artifacts
      </Title>
      {(task.artifacts ?? []).length === 0 && <Text size="sm">No artifacts.</Text>}
      {task.artifacts?.map(({ artifactId, name, parts }) => (
        <MessageCard key={artifactId} from={name} parts={parts} />
      ))}
      {cancel.error && <ErrorAlert error={cancel.error} />}
      {canCancel && !ended && (
        <Button
          color="red"
          variant="light"
          size="xs"
          w="fit-content"
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          Cancel task
        </Button>
      )}
    </Stack>
  )
}

const MessageCard = ({ from, parts }: { from: string; parts: Part[] }) => (
  <Paper withBorder p="xs">
    <Text size="xs" c="dimmed">
      {from}
    </Text>
    {parts.map((part, index) =>
      part.text !== undefined ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
        <Text key={index} size="sm">
          {part.text}
        </Text>
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names
        <Lines key={index}>{JSON.stringify(part.data ?? part, null, 2)}</Lines>
      )
    )}
  </Paper>
)
