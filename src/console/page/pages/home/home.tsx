import { Anchor, Button, Grid, Group, Paper, SimpleGrid, Stack, Stepper, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { AnsweredTrigger as Trigger } from '../../../../triggers/responses.ts'
import { type Page, project } from '../../api/client.ts'
import { useHasRole, useProject, useProjectId } from '../../api/session.ts'
import { triggerLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Shown } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { CopyBlock } from '../../parts/texts.tsx'
import { sendPush, sentWell } from '../lab/send-push.tsx'
import { type MessageItem, messageColumns } from '../messages/message-list.tsx'
import { Share, StateBadge } from '../triggers/triggers.tsx'
import { GatewayHealth, gatewaysOf, Nodes } from './health.tsx'
import { type Minute, MinuteChart } from './minute-chart.tsx'

export function Home() {
  const known = useProject()
  return (
    <PageLayout title="Home" about={known && `${known.name} (${known.id})`}>
      <Next />
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Counters />
          <Newest />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Running />
          <GatewayHealth />
          <Nodes />
        </Grid.Col>
      </Grid>
    </PageLayout>
  )
}

const any = (page: Page<unknown> | undefined) => (page?.items.length ?? 0) > 0

/** What is set up and what is next. */
function Next() {
  const projectId = useProjectId()
  const mode = useProject()?.mode
  const first = <Item,>(path: string) => ({
    queryKey: ['first', projectId, path],
    queryFn: () => project<Page<Item>>(projectId, 'GET', path, { query: { limit: 1 } }),
    refetchInterval: 3_000
  })
  const messages = useQuery(first<unknown>('/messages'))
  const devices = useQuery(first<unknown>('/devices'))
  const gateways = useQuery(gatewaysOf(projectId))
  const done = [any(messages.data), any(devices.data), (gateways.data?.items.length ?? 0) > 0 && mode === 'live']
  const next = done.indexOf(false)
  const to = (room: string) => `/p/${encodeURIComponent(projectId)}/${room}`
  const [user, title, body] = ['demo-user', 'Hello', 'It works']
  const push = JSON.stringify({ push_notifications: [{ target: { project_user_id: user }, title, body }] })
  const may = useHasRole('editor')
  const navigate = useNavigate()
  const send = useMutation({
    mutationFn: () => sendPush(projectId, { user, title, body }),
    onSuccess: (became) => {
      if (became === sentWell) void navigate({ to: to('lab') })
    }
  })
  return (
    <Paper withBorder p="md" component="section" aria-label="Next steps">
      <Stepper active={next === -1 ? 3 : next} size="sm" iconSize={28}>
        <Stepper.Step label="Send your first push" description="and watch it arrive">
          <CopyBlock
            label="curl"
            text={`curl -X POST ${location.origin}/api/v1/messages:send -H 'X-Service-Project-ID: ${projectId}' \\
  -H 'X-Service-API-Key: <secret key>' -H 'Content-Type: application/json' -d '${push}'`}
          />
          <Group mt="xs" gap="xs">
            {may && (
              <Button size="xs" loading={send.isPending} onClick={() => send.mutate()}>
                Send a test push
              </Button>
            )}
            <Text size="sm" role="status">
              {send.error?.message ?? send.data ?? ''}
            </Text>
            <Text size="sm">
              It appears in the{' '}
              <Anchor component={Link} to={to('lab')}>
                device lab
              </Anchor>
              .
            </Text>
          </Group>
        </Stepper.Step>
        <Stepper.Step label="Register a device" description="simulated or real">
          <Text>
            Add a simulated device in the{' '}
            <Anchor component={Link} to={to('lab')}>
              device lab
            </Anchor>
            , or have your app call POST /api/v1/devices with a public key.
          </Text>
        </Stepper.Step>
        <Stepper.Step label="Connect a gateway" description="to reach real devices">
          <Text>
            Add your APNs, FCM or Web Push credentials in the{' '}
            <Anchor component={Link} to={to('settings')}>
              settings
            </Anchor>
            , then set the mode to live.
          </Text>
        </Stepper.Step>
        <Stepper.Completed>
          <Text>Setup complete.</Text>
        </Stepper.Completed>
      </Stepper>
    </Paper>
  )
}

const names = ['sent', 'failed', 'delivered', 'tapped'] as const

function Counters() {
  const projectId = useProjectId()
  const minutes = useQuery({
    queryKey: ['minutes', projectId],
    queryFn: () => project<{ items: Minute[] }>(projectId, 'GET', '/messages:minutes', { query: { last: 60 } }),
    refetchInterval: 2_000
  })
  return (
    <Panel title="Last hour">
      <Shown query={minutes}>
        {({ items }) => (
          <Stack>
            <SimpleGrid cols={{ base: 2, sm: 4 }}>
              {names.map((name) => (
                <div key={name}>
                  <Text size="xs" c="dimmed">
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
      </Shown>
    </Panel>
  )
}

/** What was sent last, as it is sent. */
function Newest() {
  const projectId = useProjectId()
  const messages = useQuery({
    queryKey: ['newest', projectId],
    queryFn: () => project<Page<MessageItem>>(projectId, 'GET', '/api/v1/messages', { query: { limit: 8 } }),
    refetchInterval: 2_000
  })
  return (
    <Panel title="Recent messages" mt="md">
      <Shown query={messages}>
        {({ items }) =>
          items.length === 0 ? (
            <Text c="dimmed">No messages yet. Send your first push above.</Text>
          ) : (
            <SimpleTable
              label="Recent messages"
              items={items}
              keyOf={({ message_id, device_id }) => message_id + device_id}
              columns={messageColumns(projectId).filter(({ name }) => onHome.has(name))}
            />
          )
        }
      </Shown>
    </Panel>
  )
}

const onHome = new Set(['Time', 'Content', 'User', 'State'])

function Running() {
  const projectId = useProjectId()
  const triggers = useQuery({
    queryKey: ['running', projectId],
    queryFn: () => project<Page<Trigger>>(projectId, 'GET', '/api/v1/triggers', { query: { limit: 5 } }),
    refetchInterval: 2_000
  })
  return (
    <Panel title="Recent triggers" mb="md">
      <Shown query={triggers}>
        {({ items }) =>
          items.length === 0 ? (
            <Text c="dimmed">No triggers yet.</Text>
          ) : (
            <Stack gap="sm">
              {items.map(({ trigger_id, campaign_id, state, counts }) => (
                <div key={trigger_id}>
                  <Group justify="space-between">
                    <Anchor component={Link} to={triggerLink(projectId, trigger_id)}>
                      {campaign_id}
                    </Anchor>
                    <StateBadge state={state} />
                  </Group>
                  <Share counts={counts} />
                </div>
              ))}
            </Stack>
          )
        }
      </Shown>
    </Panel>
  )
}
