import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { Webhook } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'
import { pageLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EmptyState, ErrorAlert, Loaded } from '../../parts/states.tsx'
import { CopyBlock } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'
import { Deliveries } from './deliveries.tsx'
import { SendTest } from './send-test.tsx'
import { WebhookFields } from './webhook-fields.tsx'
import { WebhookState } from './webhooks.tsx'

const overlaps = [
  { value: '0s', label: 'No time: end all earlier secrets now' },
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' }
]

/** One endpoint: its deliveries, a test event, and its settings. */
export function WebhookPage() {
  const projectId = useProjectId()
  const canSee = useHasRole('editor')
  const { webhookId = '' } = useParams({ strict: false }) as { webhookId?: string }
  const webhook = useQuery({
    queryKey: ['webhook', projectId, webhookId],
    queryFn: () => project<Webhook>(projectId, 'GET', `/webhooks/${encodeURIComponent(webhookId)}`),
    meta: { kinds: ['webhooks'] },
    enabled: canSee
  })
  if (!canSee)
    return (
      <PageLayout title="Webhook">
        <EmptyState title="View only: webhooks need the editor role">Endpoint URLs may contain secrets.</EmptyState>
      </PageLayout>
    )
  return <Loaded query={webhook}>{(found) => <Detail webhook={found} />}</Loaded>
}

function Detail({ webhook }: { webhook: Webhook }) {
  const canEdit = useHasRole('admin')
  return (
    <PageLayout
      title={webhook.description ?? new URL(webhook.url).host}
      about={webhook.url}
      docs="guides/webhooks"
      actions={
        <>
          <WebhookState {...webhook} />
          {canEdit && <PauseButton webhook={webhook} />}
        </>
      }
    >
      <SendTest webhook={webhook} />
      <PageTabs
        tabs={[
          ['deliveries', 'Deliveries', <Deliveries key="deliveries" webhookId={webhook.id} />],
          ['settings', 'Settings', <Settings key={webhook.updated_at} webhook={webhook} />],
          ['secret', 'Signing secret', <Secret key="secret" webhook={webhook} />]
        ]}
      />
    </PageLayout>
  )
}

/** Saves changes of a webhook, and shows them everywhere. */
function useChange({ id }: Webhook) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  return async (body: Partial<Webhook>) => {
    const changed = await project<Webhook>(projectId, 'PATCH', `/webhooks/${id}`, { body })
    queries.setQueryData(['webhook', projectId, id], changed)
    void queries.invalidateQueries({ queryKey: ['list', projectId, '/webhooks'] })
    return changed
  }
}

function PauseButton({ webhook }: { webhook: Webhook }) {
  const change = useChange(webhook)
  const set = async (active: boolean) => {
    await change({ active })
    toast(active ? 'Webhook resumed.' : 'Webhook paused. New events are not sent.', { undo: () => set(!active) })
  }
  const pausing = useMutation({ mutationFn: () => set(!webhook.active) })
  return (
    <>
      <Button size="xs" variant="default" loading={pausing.isPending} onClick={() => pausing.mutate()}>
        {webhook.active ? 'Pause' : 'Resume'}
      </Button>
      {pausing.error && <ErrorAlert error={pausing.error} />}
    </>
  )
}

function Settings({ webhook }: { webhook: Webhook }) {
  const projectId = useProjectId()
  const navigate = useNavigate()
  const canEdit = useHasRole('admin')
  const change = useChange(webhook)
  const { url, events, description } = webhook
  const { form, sending, onSubmit } = useApiForm({
    initialValues: { url, events: events as string[], description: description ?? '' },
    send: (values) => change(values as Partial<Webhook>),
    onSuccess: () => toast('Webhook saved.')
  })
  if (!canEdit) return <ViewOnly webhook={webhook} />
  const remove = async () => {
    await project(projectId, 'DELETE', `/webhooks/${webhook.id}`)
    toast('Webhook deleted.')
    void navigate({ to: pageLink(projectId, 'webhooks') })
  }
  return (
    <Stack maw={560}>
      <form onSubmit={onSubmit}>
        <Stack>
          <WebhookFields form={form} />
          {sending.error && <ErrorAlert error={sending.error} />}
          <Group>
            <Button type="submit" loading={sending.isPending} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
      <Group>
        <ConfirmButton
          label="Delete"
          title="Delete webhook?"
          question="Pending deliveries will be discarded."
          act={remove}
        />
      </Group>
    </Stack>
  )
}

const ViewOnly = ({ webhook: { url, events } }: { webhook: Webhook }) => (
  <Stack maw={560}>
    <Text>View only: changing a webhook needs the admin role.</Text>
    <CopyBlock label="endpoint URL" text={url} />
    <Text size="sm">Events: {events.join(', ')}</Text>
  </Stack>
)

function Secret({ webhook: { id } }: { webhook: Webhook }) {
  const projectId = useProjectId()
  const canEdit = useHasRole('admin')
  return (
    <Stack maw={560}>
      <Text>
        Each delivery is signed with the secret of this endpoint. It was shown when the webhook was created. After a
        rotation the old secret signs too, for as long as you choose.
      </Text>
      {canEdit ? (
        <CreateSecret
          label="Rotate secret"
          submit="Rotate"
          what="secret"
          warning="Verify signatures with this secret. It is shown only once."
          initialValues={{ overlap: '24h' }}
          create={(body) => project<{ secret: string }>(projectId, 'POST', `/webhooks/${id}:rotate-secret`, { body })}
          secretOf={({ secret }) => secret}
          done={() => undefined}
          fields={(form) => (
            <>
              <Text size="sm">Creates a new secret. Deploy it to your receiver while the old one still signs.</Text>
              <Select
                {...form.getInputProps('overlap')}
                label="Keep signing with the old secret for"
                allowDeselect={false}
                data={overlaps}
              />
            </>
          )}
        />
      ) : (
        <Text>View only: rotating the secret needs the admin role.</Text>
      )}
    </Stack>
  )
}
