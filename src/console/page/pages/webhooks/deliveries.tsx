import { Badge, Button, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { WebhookDelivery } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'

const colors = { pending: 'cyan', delivered: 'teal', failed: 'red' }

/** Deliveries to webhooks of the project and to callback URLs of agents. */
export const Deliveries = () =>
  useHasRole('editor') ? (
    <Calls />
  ) : (
    <EmptyState title="View only: deliveries need the editor role">Endpoint URLs may contain secrets.</EmptyState>
  )

function Calls() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const [state, setState] = useUrlState('state')
  const replay = useMutation({
    mutationFn: (id: string) => project(projectId, 'POST', `/webhook-deliveries/${id}:replay`),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['list', projectId, '/webhook-deliveries'] })
  })
  return (
    <Stack>
      <Select
        label="State"
        placeholder="Any"
        clearable
        w={200}
        value={state || null}
        onChange={setState}
        data={Object.keys(colors)}
      />
      {replay.error && <ErrorAlert error={replay.error} />}
      <PagedList
        label="Deliveries"
        pages={usePagedList<WebhookDelivery>('/webhook-deliveries', { state })}
        keyOf={({ id }) => id}
        empty={
          state ? (
            <EmptyState title="No matching deliveries">Clear the filter to see more.</EmptyState>
          ) : (
            <EmptyState title="No deliveries yet">
              Calls to webhooks and to agents’ callback URLs appear here.
            </EmptyState>
          )
        }
        columns={[
          { name: 'Time', show: ({ created_at }) => <When at={created_at} /> },
          {
            name: 'URL',
            show: ({ url }) => (
              <Text size="sm" lineClamp={1}>
                {url}
              </Text>
            )
          },
          { name: 'Source', show: ({ source }) => (source.kind === 'task' ? 'Agent task' : 'Webhook') },
          {
            name: 'State',
            show: ({ state: now, last_error, last_status }) => (
              <Badge color={colors[now]} variant="light" title={last_error ?? undefined}>
                {now} {last_status}
              </Badge>
            )
          },
          { name: 'Attempts', show: ({ attempts }) => attempts },
          {
            name: 'Actions',
            show: ({ id, state: now }) =>
              now !== 'pending' && (
                <Button size="xs" variant="default" onClick={() => replay.mutate(id)}>
                  {now === 'failed' ? 'Retry' : 'Resend'}
                </Button>
              )
          }
        ]}
      />
    </Stack>
  )
}
