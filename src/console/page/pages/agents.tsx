import { Accordion, Anchor, Badge, Code, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { rpc, type Task } from '../agent.ts'
import { PageOf } from '../parts/page.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { CopyBlock, When } from '../parts/texts.tsx'
import { useProjectId } from '../who.ts'
import { Playground } from './agents-playground.tsx'

export const Agents = () => (
  <PageOf title="Agents" about="What AI agents do here over A2A, and a place to try it.">
    <Tabs defaultValue="playground" keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="playground">Playground</Tabs.Tab>
        <Tabs.Tab value="tasks">Tasks</Tabs.Tab>
        <Tabs.Tab value="card">Agent card</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="playground" pt="md">
        <Playground />
      </Tabs.Panel>
      <Tabs.Panel value="tasks" pt="md">
        <Tasks />
      </Tabs.Panel>
      <Tabs.Panel value="card" pt="md">
        <Card />
      </Tabs.Panel>
    </Tabs>
  </PageOf>
)

const colors: Record<string, string> = {
  completed: 'teal',
  failed: 'red',
  rejected: 'red',
  canceled: 'gray',
  'input-required': 'orange',
  'auth-required': 'orange'
}
export const TaskState = ({ state }: { state: string }) => (
  <Badge color={colors[state] ?? 'cyan'} variant="light">
    {state}
  </Badge>
)

function Tasks() {
  const projectId = useProjectId()
  const tasks = useQuery({
    queryKey: ['tasks', projectId],
    queryFn: () =>
      rpc<{ tasks: Task[] }>(projectId, 'ListTasks', { pageSize: 100, includeArtifacts: true, historyLength: 20 }),
    refetchInterval: 3_000
  })
  return (
    <Shown query={tasks}>
      {({ tasks: found }) =>
        found.length === 0 ? (
          <Empty title="No task yet">Send a message in the playground, or let an agent do it.</Empty>
        ) : (
          <Accordion variant="separated">
            {found.map((task) => (
              <Accordion.Item key={task.id} value={task.id}>
                <Accordion.Control>
                  <Group>
                    <TaskState state={task.status.state} />
                    <Text size="sm">{task.artifacts?.map(({ name }) => name).join(', ') || task.id}</Text>
                    <Text size="sm" c="dimmed">
                      <When at={task.status.timestamp} />
                    </Text>
                  </Group>
                </Accordion.Control>
                <Accordion.Panel>
                  <Code block>{JSON.stringify(task, null, 2)}</Code>
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        )
      }
    </Shown>
  )
}

function Card() {
  const card = useQuery({
    queryKey: ['card'],
    queryFn: async () => {
      const response = await fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })
      return (await response.json()) as object
    }
  })
  return (
    <Shown query={card}>
      {(found) => (
        <Stack>
          <Text>
            Agents find it at <Anchor href="/.well-known/agent-card.json">/.well-known/agent-card.json</Anchor>.
          </Text>
          <CopyBlock label="agent card" text={JSON.stringify(found, null, 2)} />
        </Stack>
      )}
    </Shown>
  )
}
