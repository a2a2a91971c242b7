import { Anchor, Badge, Group, Stack, Table, Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { WebhookAttempt, WebhookDeliveryDetail } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { taskLink, webhookLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Row } from '../../parts/row.tsx'
import { EmptyState, Loaded } from '../../parts/states.tsx'
import { CopyBlock, Lines, When } from '../../parts/texts.tsx'
import { DeliveryState, RetryButton } from './deliveries.tsx'

/** One call to a webhook: its payload, and each attempt with its response. */
export function DeliveryPage() {
  const projectId = useProjectId()
  const canSee = useHasRole('editor')
  const { deliveryId = '' } = useParams({ strict: false }) as { deliveryId?: string }
  const delivery = useQuery({
    queryKey: ['delivery', projectId, deliveryId],
    queryFn: () =>
      project<WebhookDeliveryDetail>(projectId, 'GET', `/webhook-deliveries/${encodeURIComponent(deliveryId)}`),
    meta: { kinds: ['webhooks'] },
    enabled: canSee
  })
  return (
    <PageLayout
      title="Delivery"
      about={delivery.data ? whatOf(delivery.data) : undefined}
      docs="guides/webhooks"
      actions={
        delivery.data && (
          <>
            <DeliveryState {...delivery.data} />
            <RetryButton delivery={delivery.data} />
          </>
        )
      }
    >
      {canSee ? (
        <Loaded query={delivery}>{(found) => <Detail delivery={found} />}</Loaded>
      ) : (
        <EmptyState title="View only: deliveries need the editor role">Endpoint URLs may contain secrets.</EmptyState>
      )}
    </PageLayout>
  )
}

interface Payload {
  events?: { type?: string }[]
}

/** `2 events: message.failed, trigger.completed`. */
function whatOf({ body, source }: WebhookDeliveryDetail): string {
  if (source.kind === 'task') return 'A change of an agent task.'
  const { events = [] } = JSON.parse(body) as Payload
  const types = [...new Set(events.map(({ type }) => type))]
  return `${events.length === 1 ? '1 event' : `${events.length} events`}: ${types.join(', ')}`
}

function Detail({ delivery }: { delivery: WebhookDeliveryDetail }) {
  const projectId = useProjectId()
  const { id, url, source, created_at, next_at, expires_at, settled_at, body, made, last_error } = delivery
  const link = source.kind === 'task' ? taskLink(projectId, source.id) : webhookLink(projectId, source.id)
  return (
    <>
      <Panel title="Summary">
        <Table withRowBorders={false}>
          <Table.Tbody>
            <Row name="Endpoint">
              <Anchor component={Link} to={link}>
                {url}
              </Anchor>
            </Row>
            <Row name="webhook-id">{id}</Row>
            <Row name="Created">
              <When at={created_at} />
            </Row>
            {next_at !== null && (
              <Row name="Next attempt">
                <When at={next_at} />, given up <When at={expires_at} />
              </Row>
            )}
            {settled_at !== null && (
              <Row name={delivery.state === 'failed' ? 'Given up' : 'Delivered'}>
                <When at={settled_at} />
              </Row>
            )}
          </Table.Tbody>
        </Table>
      </Panel>
      <Panel title="Attempts">
        {made.length === 0 ? (
          <Text size="sm">{last_error ?? 'No attempt recorded yet.'}</Text>
        ) : (
          <Timeline bulletSize={14} lineWidth={2} active={made.length}>
            {made.map((attempt, index) => (
              <Timeline.Item
                key={attempt.at}
                color={attempt.error === null ? 'teal' : 'red'}
                title={<AttemptTitle attempt={attempt} />}
              >
                <AttemptContent attempt={attempt} open={index === 0} />
              </Timeline.Item>
            ))}
          </Timeline>
        )}
      </Panel>
      <Panel title="Payload">
        <CopyBlock label="payload" text={pretty(body)} />
      </Panel>
    </>
  )
}

const AttemptTitle = ({ attempt: { status, at, duration_ms } }: { attempt: WebhookAttempt }) => (
  <Group gap="xs">
    <Badge variant="light" color={status !== null && status < 300 ? 'teal' : 'red'}>
      {status ?? 'no response'}
    </Badge>
    <Text size="sm">
      <When at={at} />
    </Text>
    <Text size="sm" c="dimmed">
      {duration_ms.toLocaleString()} ms
    </Text>
  </Group>
)

/** Headers and response. Those of older attempts are folded. */
const AttemptContent = ({ attempt, open }: { attempt: WebhookAttempt; open: boolean }) => (
  <details open={open}>
    <summary>Request headers and response</summary>
    <Stack gap="xs" mt="xs" miw={0}>
      {attempt.error !== null && (
        <Text size="sm" c="red" style={{ overflowWrap: 'anywhere' }}>
          {attempt.error}
        </Text>
      )}
      <Lines aria-label="Request headers" style={wrapped}>
        {Object.entries(attempt.headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}
      </Lines>
      {attempt.response === null ? (
        <Text size="sm" c="dimmed">
          Empty response body.
        </Text>
      ) : (
        <Lines aria-label="Response body" style={wrapped}>
          {attempt.response}
        </Lines>
      )}
    </Stack>
  </details>
)

const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
