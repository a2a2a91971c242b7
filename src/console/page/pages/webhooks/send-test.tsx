import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Webhook, WebhookDeliveryDetail } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { deliveryLink } from '../../parts/links.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { Lines } from '../../parts/texts.tsx'

/** Sends a signed test event and shows the response. */
export function SendTest({ webhook: { id } }: { webhook: Webhook }) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const testing = useMutation({
    mutationFn: () => project<{ delivery: WebhookDeliveryDetail }>(projectId, 'POST', `/webhooks/${id}:test`),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['list', projectId, '/webhook-deliveries'] })
  })
  return (
    <Stack gap="sm">
      <Group>
        <Button loading={testing.isPending} onClick={() => testing.mutate()}>
          Send test event
        </Button>
        <Text size="sm" c="dimmed">
          Sends one signed event of the type webhook.test, once.
        </Text>
      </Group>
      {testing.error && <ErrorAlert error={testing.error} />}
      {testing.data && <Response delivery={testing.data.delivery} />}
    </Stack>
  )
}

function Response({ delivery: { id, state, made } }: { delivery: WebhookDeliveryDetail }) {
  const projectId = useProjectId()
  const [attempt] = made
  const ok = state === 'delivered'
  return (
    <Alert
      color={ok ? 'teal' : 'red'}
      role="status"
      title={ok ? `Your endpoint responded ${attempt?.status}` : `Test failed: ${attempt?.error ?? 'no response'}`}
    >
      <Stack gap="xs">
        <Text size="sm">
          {attempt && `${attempt.duration_ms.toLocaleString()} ms. `}
          <Anchor component={Link} size="sm" to={deliveryLink(projectId, id)}>
            View delivery
          </Anchor>
        </Text>
        {attempt?.response && (
          <Lines aria-label="Response body" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {attempt.response}
          </Lines>
        )}
      </Stack>
    </Alert>
  )
}
