import { Anchor, Paper, Stack, Text, Timeline, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Message, MessageEntry } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { triggerLink, userLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { NotificationText } from '../../parts/phone/phone.tsx'
import { Loaded } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { MessageRequests } from '../lab/message-requests.tsx'
import { MessageState } from './message-columns.tsx'

const steps = [
  ['created_at', 'Queued'],
  ['handed_at', 'Sent to gateway'],
  ['settled_at', 'Gateway response'],
  ['delivered_at', 'Delivered (reported by app)'],
  ['tapped_at', 'Tapped (reported by app)']
] as const

export function MessagePage() {
  const projectId = useProjectId()
  const { messageId = '' } = useParams({ strict: false })
  const message = useQuery({
    queryKey: ['message', projectId, messageId],
    queryFn: () => project<Message>(projectId, 'GET', `/api/v1/messages/${messageId}`),
    meta: { kinds: ['messages'] }
  })
  return (
    <PageLayout title="Message" about={messageId}>
      <Loaded query={message}>
        {({ devices, trigger_id, campaign_id }) => (
          <Stack>
            {devices[0] && (
              <Paper withBorder p="sm" radius="lg" maw={360}>
                <NotificationText {...devices[0]} />
              </Paper>
            )}
            {trigger_id && (
              <Text>
                Sent by a{' '}
                <Anchor component={Link} to={triggerLink(projectId, trigger_id)}>
                  trigger
                </Anchor>{' '}
                of campaign {campaign_id}.
              </Text>
            )}
            {devices.map((device) => (
              <DeviceSection key={device.device_id} device={device} />
            ))}
            <MessageRequests messageId={messageId} />
          </Stack>
        )}
      </Loaded>
    </PageLayout>
  )
}

/** The message on one device: its state, the reason of a failure, and each step with its time. */
function DeviceSection({ device }: { device: MessageEntry }) {
  const projectId = useProjectId()
  return (
    <Paper withBorder p="md" component="section" aria-label={`Device ${device.device_id}`}>
      <Stack gap="xs">
        <Title order={2} size="h4">
          {device.device_id || 'No device'} <MessageState {...device} />
        </Title>
        {device.project_user_id && (
          <Anchor component={Link} to={userLink(projectId, device.project_user_id)}>
            {device.project_user_id}
          </Anchor>
        )}
        {device.failure_reason && <Text c="red">{device.failure_reason}</Text>}
        {device.gateway_message_id && (
          <Text size="sm" c="dimmed">
            Gateway message ID: {device.gateway_message_id}
          </Text>
        )}
        <Timeline active={steps.findLastIndex(([name]) => device[name])} bulletSize={16}>
          {steps.map(([name, label]) => (
            <Timeline.Item key={name} title={label}>
              <Text size="sm">
                <When at={device[name]} />
              </Text>
            </Timeline.Item>
          ))}
        </Timeline>
      </Stack>
    </Paper>
  )
}
