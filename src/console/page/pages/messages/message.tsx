import { Anchor, Paper, Stack, Table, Text, Timeline, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Message, MessageEntry } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { campaignLink, triggerLink, userLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { NotificationText } from '../../parts/phone/phone.tsx'
import { Row } from '../../parts/row.tsx'
import { Loaded } from '../../parts/states.tsx'
import { plural, When } from '../../parts/texts.tsx'
import { MessageRequests } from '../lab/message-requests.tsx'
import { kinds, MessageState } from './message-columns.tsx'

export function MessagePage() {
  const projectId = useProjectId()
  const { messageId = '' } = useParams({ strict: false })
  const message = useQuery({
    queryKey: ['message', projectId, messageId],
    queryFn: () => project<Message>(projectId, 'GET', `/api/v1/messages/${messageId}`),
    meta: { kinds: ['messages'] }
  })
  return (
    <PageLayout title="Message" about={messageId} docs="guides/sending">
      <Loaded query={message}>
        {(found) => (
          <Stack>
            {found.devices[0] && (
              <Paper withBorder p="sm" radius="lg" maw={360}>
                <NotificationText {...found.devices[0]} />
              </Paper>
            )}
            <Origin message={found} />
            {found.devices.map((device) => (
              <DeviceSection key={device.device_id} device={device} />
            ))}
            <MessageRequests messageId={messageId} />
          </Stack>
        )}
      </Loaded>
    </PageLayout>
  )
}

/** Who gets the message, and what sent it. */
function Origin({ message: { trigger_id, campaign_id, created_at, devices } }: { message: Message }) {
  const projectId = useProjectId()
  const [first] = devices
  const user = first?.project_user_id
  return (
    <Panel title="Origin">
      <Table withRowBorders={false}>
        <Table.Tbody>
          <Row name="User">
            {user ? (
              <Anchor component={Link} to={userLink(projectId, user)}>
                {user}
              </Anchor>
            ) : (
              'Anonymous user'
            )}
          </Row>
          <Row name="Campaign">
            {campaign_id ? (
              <Anchor component={Link} to={campaignLink(projectId, campaign_id)}>
                {campaign_id}
              </Anchor>
            ) : (
              'None: sent directly'
            )}
          </Row>
          {trigger_id && (
            <Row name="Trigger">
              <Anchor component={Link} to={triggerLink(projectId, trigger_id)}>
                {trigger_id}
              </Anchor>
            </Row>
          )}
          {first?.variant && <Row name="Variant">{first.variant}</Row>}
          {first?.language && <Row name="Language">{first.language}</Row>}
          {first?.step && <Row name="Step">{first.step}</Row>}
          <Row name="Created">
            <When at={created_at} />
          </Row>
        </Table.Tbody>
      </Table>
    </Panel>
  )
}

const gatewayNames: Record<string, string> = { apns: 'APNs', fcm: 'FCM', webpush: 'Web Push' }

/** The steps of a message on a device, in words. A step without a time has not happened. */
function stepsOf(device: MessageEntry): { title: string; at: string | null; text?: string | undefined }[] {
  const gateway = gatewayNames[device.gateway ?? ''] ?? 'the gateway'
  const simulated = device.simulated ? ' (simulated)' : ''
  const settled =
    device.state === 'accepted' ? `Accepted by ${gateway}` : device.state === 'skipped' ? 'Skipped' : 'Failed'
  const isSettled = ['accepted', 'failed', 'skipped'].includes(device.state)
  return [
    { title: 'Queued', at: device.created_at },
    { title: `Sent to ${gateway}${simulated}`, at: device.handed_at, text: attemptsOf(device) },
    {
      title: isSettled ? settled : 'Gateway response',
      at: device.settled_at,
      text:
        device.failure_reason ||
        (device.gateway_message_id ? `Gateway message ID ${device.gateway_message_id}` : undefined)
    },
    { title: 'Delivered (reported by app)', at: device.delivered_at },
    { title: 'Tapped (reported by app)', at: device.tapped_at }
  ]
}

const attemptsOf = ({ attempts }: MessageEntry) => (attempts > 1 ? plural(attempts, 'attempt') : undefined)

/** The message on one device: its state, the reason of a failure, and each step with its time. */
function DeviceSection({ device }: { device: MessageEntry }) {
  const steps = stepsOf(device)
  return (
    <Paper withBorder p="md" component="section" aria-label={`Device ${device.device_id}`}>
      <Stack gap="sm">
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          {device.device_id || 'No device'} <MessageState {...device} />
        </Title>
        {kinds.get(device.kind) && <Text size="sm">{kinds.get(device.kind)}</Text>}
        <Timeline active={steps.findLastIndex(({ at }) => at)} bulletSize={16}>
          {steps.map(({ title, at, text }) => (
            <Timeline.Item key={title} title={title}>
              <Text size="sm">
                <When at={at} />
              </Text>
              {text && (
                <Text
                  size="sm"
                  c={device.failure_reason && text === device.failure_reason ? 'red' : 'dimmed'}
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {text}
                </Text>
              )}
            </Timeline.Item>
          ))}
        </Timeline>
        {!['accepted', 'failed', 'skipped'].includes(device.state) && (
          <Text size="sm" c="dimmed">
            Given up <When at={device.expires_at} /> if no gateway accepts it.
          </Text>
        )}
      </Stack>
    </Paper>
  )
}
