import { Anchor, Badge, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { WebhookDelivery } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { deliveryLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { Clip, plural, When } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'
import { useUrlState } from '../../parts/url-state.ts'

const colors = { pending: 'cyan', delivered: 'teal', failed: 'red' }

export const DeliveryState = ({ state, last_status, last_error }: WebhookDelivery) => (
  <Badge color={colors[state]} variant="light" title={last_error ?? undefined}>
    {state} {last_status}
  </Badge>
)

/** Deliveries to one webhook, or to all webhooks of the project and callback URLs of agents. */
export const Deliveries = ({ webhookId }: { webhookId?: string }) =>
  useHasRole('editor') ? (
    <DeliveryList webhookId={webhookId} />
  ) : (
    <EmptyState title="View only: deliveries need the editor role">Endpoint URLs may contain secrets.</EmptyState>
  )

const hourMs = 3_600_000
const periods = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' }
]

/** The start of a period in whole minutes, so that the query stays the same while the page renders again. */
const startOf = (hours: string) => new Date(Math.floor((Date.now() - Number(hours) * hourMs) / 60_000) * 60_000)

function DeliveryList({ webhookId }: { webhookId: string | undefined }) {
  const projectId = useProjectId()
  const [state, setState] = useUrlState('state')
  const [hours, setHours] = useUrlState('hours')
  const known = periods.some(({ value }) => value === hours)
  const from = known ? startOf(hours).toISOString() : undefined
  return (
    <Stack>
      <Group align="end">
        <Select
          label="State"
          placeholder="Any"
          clearable
          w={160}
          value={state || null}
          onChange={setState}
          data={Object.keys(colors)}
        />
        <Select
          label="Created"
          placeholder="Any time"
          clearable
          w={180}
          value={known ? hours : null}
          onChange={setHours}
          data={periods}
        />
        <RetryFailed webhookId={webhookId} from={from} />
      </Group>
      <PagedList
        label="Deliveries"
        pages={usePagedList<WebhookDelivery>('/webhook-deliveries', { state, from, webhook_id: webhookId })}
        keyOf={({ id }) => id}
        empty={
          state || from ? (
            <EmptyState title="No matching deliveries">Clear the filter to see more.</EmptyState>
          ) : (
            <EmptyState title="No deliveries yet">
              {webhookId
                ? 'Events of this endpoint appear here a second after they happen. Send a test event to try it.'
                : 'Calls to webhooks and to agents’ callback URLs appear here.'}
            </EmptyState>
          )
        }
        columns={[
          {
            name: 'Created',
            show: ({ id, created_at }) => (
              <Anchor component={Link} to={deliveryLink(projectId, id)}>
                <When at={created_at} />
              </Anchor>
            )
          },
          ...(webhookId ? [] : [{ name: 'URL', show: ({ url }: WebhookDelivery) => <Clip width={300}>{url}</Clip> }]),
          ...(webhookId ? [] : [{ name: 'Source', show: sourceOf }]),
          { name: 'State', show: (delivery) => <DeliveryState {...delivery} /> },
          { name: 'Attempts', show: ({ attempts }) => attempts },
          { name: 'Next attempt', show: ({ next_at }) => <When at={next_at} /> },
          { name: 'Actions', show: (delivery) => <RetryButton delivery={delivery} /> }
        ]}
      />
    </Stack>
  )
}

const sourceOf = ({ source }: WebhookDelivery) => (source.kind === 'task' ? 'Agent task' : 'Webhook')

/** Starts the attempts again, at once. */
export function RetryButton({ delivery: { id, state } }: { delivery: WebhookDelivery }) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const retrying = useMutation({
    mutationFn: () => project(projectId, 'POST', `/webhook-deliveries/${id}:replay`),
    onSuccess: () => {
      toast('Retrying now.')
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/webhook-deliveries'] })
      void queries.invalidateQueries({ queryKey: ['delivery', projectId, id] })
    },
    onError: (error) => toast(`Could not retry: ${error.message}`)
  })
  return (
    <Button size="xs" variant="default" loading={retrying.isPending} onClick={() => retrying.mutate()}>
      {state === 'delivered' ? 'Resend' : 'Retry now'}
    </Button>
  )
}

/** Retries all failed deliveries of the chosen time, or of the last 24 hours. */
function RetryFailed({ webhookId, from }: { webhookId: string | undefined; from: string | undefined }) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const body = { ...(from && { since: from }), ...(webhookId && { webhook_id: webhookId }) }
  const retrying = useMutation({
    mutationFn: () => project<{ replayed: number }>(projectId, 'POST', '/webhook-deliveries:replay-failed', { body }),
    onSuccess: ({ replayed }) => {
      toast(replayed === 0 ? 'No failed deliveries.' : `Retrying ${plural(replayed, 'delivery', 'deliveries')}.`)
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/webhook-deliveries'] })
    }
  })
  return (
    <Group gap="xs" align="center">
      <Button variant="default" loading={retrying.isPending} onClick={() => retrying.mutate()}>
        Retry failed
      </Button>
      <Text size="xs" c="dimmed">
        {from ? 'since the chosen time' : 'of the last 24 hours'}
      </Text>
      {retrying.error && <ErrorAlert error={retrying.error} />}
    </Group>
  )
}
