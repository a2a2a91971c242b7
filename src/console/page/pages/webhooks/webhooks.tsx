import { Badge, Button, Group, MultiSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CreateSecret } from '../../parts/create-secret.tsx'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { Deliveries } from './deliveries.tsx'

const eventTypes = ['message.accepted', 'message.failed', 'message.delivered', 'message.tapped', 'trigger.completed']

interface Webhook {
  id: string
  url: string
  events: string[]
  active: boolean
}
export function Webhooks() {
  const may = useHasRole('editor')
  return (
    <PageLayout title="Webhooks" about="Endpoints notified of events.">
      {may ? (
        <PageTabs
          tabs={[
            ['webhooks', 'Webhooks', <List key="webhooks" />],
            ['deliveries', 'Deliveries', <Deliveries key="deliveries" />]
          ]}
        />
      ) : (
        <EmptyState title="View only: webhooks need the editor role">Endpoint URLs may contain secrets.</EmptyState>
      )}
    </PageLayout>
  )
}

function List() {
  const projectId = useProjectId()
  const admin = useHasRole('admin')
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['list', projectId, '/webhooks'] })
  const turn = useMutation({
    mutationFn: ({ id, active }: Webhook) =>
      project(projectId, 'PATCH', `/webhooks/${id}`, { body: { active: !active } }),
    onSuccess: changed
  })
  return (
    <Stack>
      {admin && <Create done={changed} />}
      {turn.error && <ErrorAlert error={turn.error} />}
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
              admin && (
                <Group gap="xs" wrap="nowrap">
                  <Button size="xs" variant="default" onClick={() => turn.mutate(webhook)}>
                    {webhook.active ? 'Pause' : 'Resume'}
                  </Button>
                  <ConfirmButton
                    label="Delete"
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

function Create({ done }: { done: () => unknown }) {
  const projectId = useProjectId()
  const [events, setEvents] = useState<string[]>(['message.failed', 'trigger.completed'])
  return (
    <CreateSecret
      label="Create webhook"
      what="secret"
      warning="Verify signatures with this secret. It is shown only once."
      create={(form) =>
        project<{ secret: string }>(projectId, 'POST', '/webhooks', { body: { url: form.get('url'), events } })
      }
      secretOf={({ secret }) => secret}
      done={done}
      fields={(problem) => (
        <>
          <TextInput
            name="url"
            label="Endpoint URL"
            placeholder="https://example.com/tidings"
            error={problem('url')}
            required
            data-autofocus
          />
          <MultiSelect label="Events" data={eventTypes} value={events} onChange={setEvents} error={problem('events')} />
        </>
      )}
    />
  )
}
