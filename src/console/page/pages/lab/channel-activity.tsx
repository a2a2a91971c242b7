import { Anchor, Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ActivityChannel, DeliveryResults, Page } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { pageLink } from '../../parts/links.ts'

/** The type that simulated iPhones can start. */
const attributesType = 'DeliveryActivityAttributes'
const path = '/api/v1/live-activity-channels'

type Action = 'start' | 'update' | 'end'

interface Values {
  user: string
  state: string
  action: Action
}

const done: Record<Action, string> = {
  start: 'Started.',
  update: 'Updated all with one request.',
  end: 'Ended all with one request.'
}

/** Starts Live Activities that listen to one channel, and changes or ends all of them with one request. */
export function ChannelActivity() {
  const projectId = useProjectId()
  const canSend = useHasRole('editor')
  const { form, sending } = useApiForm<Values, string>({
    initialValues: { user: 'demo-user', state: '{"home": 0, "away": 0}', action: 'start' },
    send: (values) => run(projectId, values),
    errors: (error) => ({
      user: fieldError(error, 'live_activities[0].target.project_user_id'),
      state: fieldError(error, 'content_state') ?? fieldError(error, 'live_activities[0].content_state')
    }),
    draft: { name: 'channel', omit: ['action'] }
  })
  if (!canSend) return null
  const button = (action: Action, label: string) => (
    <Button
      key={action}
      variant="light"
      size="xs"
      loading={sending.isPending}
      onClick={() => sending.mutate({ ...form.values, action })}
    >
      {label}
    </Button>
  )
  return (
    <Paper withBorder p="sm" component="section" aria-label="Broadcast a Live Activity">
      <Stack gap="xs">
        <Title order={2} size="h5">
          Broadcast a Live Activity
        </Title>
        <Group grow gap="xs" align="start">
          <TextInput {...form.getInputProps('user')} label="Start on the iPhones of user" size="xs" />
          <TextInput {...form.getInputProps('state')} label="State (JSON)" size="xs" />
        </Group>
        <Group gap="xs">
          {button('start', 'Start')}
          {button('update', 'Update all')}
          {button('end', 'End all')}
        </Group>
        <Group justify="space-between">
          <Text size="sm" role="status">
            {sending.isPending ? '' : (sending.error?.message ?? sending.data)}
          </Text>
          <Anchor component={Link} to={pageLink(projectId, 'live-activities')} size="sm">
            All channels
          </Anchor>
        </Group>
      </Stack>
    </Paper>
  )
}

async function run(projectId: string, { user, state, action }: Values): Promise<string> {
  const channel = await channelOf(projectId)
  const content_state = parsed(state)
  const start = {
    live_activities: [
      {
        target: { project_user_id: user },
        attributes_type: attributesType,
        attributes: {},
        content_state,
        channel_id: channel.channel_id
      }
    ]
  }
  const { delivery_results: results } =
    action === 'start'
      ? await project<DeliveryResults>(projectId, 'POST', '/api/v1/live-activities:start', { body: start })
      : await project<DeliveryResults>(projectId, 'POST', `${path}/${channel.channel_id}:${action}`, {
          body: { content_state }
        })
  const reason = results[0]?.additional_params.failure_reason
  return reason ? `Failed: ${reason}` : done[action]
}

/** The newest channel of the lab; the first use creates it. */
async function channelOf(projectId: string): Promise<ActivityChannel> {
  const { items } = await project<Page<ActivityChannel>>(projectId, 'GET', path, { query: { limit: 200 } })
  const found = items.find(({ attributes_type, status }) => attributes_type === attributesType && status === 'active')
  if (found) return found
  const body = { attributes_type: attributesType, storage: 'most_recent' }
  return project<ActivityChannel>(projectId, 'POST', path, { body })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The state is not JSON.')
  }
}
