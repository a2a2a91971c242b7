import { Badge, Button, Group, MultiSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Webhook } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { Deliveries } from './deliveries.tsx'

const eventTypes = [
  'message.accepted',
  'message.failed',
  'message.delivered',
  'message.tapped',
  'trigger.completed',
  'approval.requested',
  'approval.decided',
  'campaign.converted',
  'user.opted_out'
]

export function Webhooks() {
  const canSee = useHasRole('editor')
  return (
    <PageLayout title="Webhooks" about="Endpoints notified of events.">
      {canSee ? (
        <PageTabs
          tabs={[
            ['webhooks', 'Webhooks', <WebhookList key="webhooks" />],
            ['deliveries', 'Deliveries', <Deliveries key="deliveries" />]
          ]}
        />
      ) : (
        <EmptyState title="View only: webhooks need the editor role">Endpoint URLs may contain secrets.</EmptyState>
      )}
    </PageLayout>
  )
}

function WebhookList() {
  const projectId = useProjectId()
  const canEdit = useHasRole('admin')
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['list', projectId, '/webhooks'] })
  const toggle = useMutation({
    mutationFn: ({ id, active }: Webhook) =>
      project(projectId, 'PATCH', `/webhooks/${id}`, { body: { active: !active } }),
    onSuccess: changed
  })
  return (
    <Stack>
      {canEdit && <CreateWebhook done={changed} />}
      {toggle.error && <ErrorAlert error={toggle.error} />}
      <PagedList
        label="Webhooks"
        pages={usePagedList<Webhook>('/webhooks')}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No webhooks yet">Create one to receive signed event notifications.</EmptyState>}
        columns={[
          { name: 'Endpoint URL', show: ({ url }) => url },
          { name: 'Events', show: ({ events }) => events.join(', ') },
          { name: 'State', show: ({ active }) => <Badge variant="light">{active ? 'active' : 'paused'}</Badge> },
          {
            name: 'Actions',
            show: (webhook) =>
              canEdit && (
                <Group gap="xs" wrap="nowrap">
                  <Button size="xs" variant="default" onClick={() => toggle.mutate(webhook)}>
                    {webhook.active ? 'Pause' : 'Resume'}
                  </Button>
                  <ConfirmButton
                    label="Delete"
                    title="Delete webhook?"
                    question="Pending deliveries will be discarded."
                    act={() => project(projectId, 'DELETE', `/webhooks/${webhook.id}`).then(changed)}
                  />
                </Group>
              )
          }
        ]}
      />
    </Stack>
  )
}

function CreateWebhook({ done }: { done: () => unknown }) {
  const projectId = useProjectId()
  return (
    <CreateSecret
      label="Create webhook"
      what="secret"
      warning="Verify signatures with this secret. It is shown only once."
      initialValues={{ url: '', events: ['message.failed', 'trigger.completed'] }}
      create={(values) => project<{ secret: string }>(projectId, 'POST', '/webhooks', { body: values })}
      secretOf={({ secret }) => secret}
      done={done}
      fields={(form) => (
        <>
          <TextInput
            {...form.getInputProps('url')}
            label="Endpoint URL"
            placeholder="https://example.com/tidings"
            required
            data-autofocus
          />
          <MultiSelect {...form.getInputProps('events')} label="Events" data={eventTypes} />
        </>
      )}
    />
  )
}
