import { Anchor, Badge, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Webhook } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'
import { webhookLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookFields } from './webhook-fields.tsx'

export function Webhooks() {
  const canSee = useHasRole('editor')
  return (
    <PageLayout title="Webhooks" about="Endpoints notified of events." docs="guides/webhooks">
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

export const WebhookState = ({ active }: Pick<Webhook, 'active'>) => (
  <Badge variant="light" color={active ? 'teal' : 'gray'}>
    {active ? 'active' : 'paused'}
  </Badge>
)

function WebhookList() {
  const projectId = useProjectId()
  const canEdit = useHasRole('admin')
  return (
    <Stack>
      {canEdit && <CreateWebhook />}
      <PagedList
        label="Webhooks"
        pages={usePagedList<Webhook>('/webhooks')}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No webhooks yet">
            Create one to receive signed event notifications: failed messages, completed triggers, approvals.
          </EmptyState>
        }
        columns={[
          {
            name: 'Endpoint URL',
            show: ({ id, url, description }) => (
              <>
                <Anchor component={Link} to={webhookLink(projectId, id)}>
                  <Clip width={320}>{url}</Clip>
                </Anchor>
                {description !== null && (
                  <Text size="xs" c="dimmed">
                    <Clip width={320}>{description}</Clip>
                  </Text>
                )}
              </>
            )
          },
          { name: 'Events', show: ({ events }) => <Clip width={240}>{events.join(', ')}</Clip> },
          { name: 'State', show: (webhook) => <WebhookState {...webhook} /> },
          { name: 'Created', show: ({ created_at }) => <When at={created_at} /> }
        ]}
      />
    </Stack>
  )
}

function CreateWebhook() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  return (
    <CreateSecret
      label="Create webhook"
      what="secret"
      warning="Verify signatures with this secret. It is shown only once."
      initialValues={{ url: '', events: ['message.failed', 'trigger.completed'], description: '' }}
      create={(values) => project<{ secret: string }>(projectId, 'POST', '/webhooks', { body: values })}
      secretOf={({ secret }) => secret}
      done={() => queries.invalidateQueries({ queryKey: ['list', projectId, '/webhooks'] })}
      fields={(form) => <WebhookFields form={form} />}
    />
  )
}
