import { Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Key } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { Panel } from '../../parts/panel.tsx'
import { EmptyState, ErrorAlert, Loading } from '../../parts/states.tsx'
import { Clip, DocsLink, When } from '../../parts/texts.tsx'
import { PolicyButton } from '../settings/policy-form.tsx'
import { PolicyInWords } from '../settings/policy-words.tsx'

/** Secret keys, with what an agent may do with each. */
export function AgentKeys() {
  const canSee = useHasRole('admin')
  return canSee ? (
    <KeyList />
  ) : (
    <EmptyState title="View only: keys need the admin role">Admins set the policies of agents’ keys.</EmptyState>
  )
}

function KeyList() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const { data, error, refetch } = usePagedList<Key>('/keys')
  const keys = data?.pages.flatMap(({ items }) => items).filter(({ kind }) => kind === 'secret')
  if (error) return <ErrorAlert error={error} retry={refetch} />
  if (!keys) return <Loading />
  const changed = () => queries.invalidateQueries({ queryKey: ['list', projectId, '/keys'] })
  return (
    <Stack maw={720}>
      <Text size="sm" c="dimmed">
        An agent acts with a secret key, and its policy says what it may do. <DocsLink to="guides/agent-policies" />
      </Text>
      {keys.length === 0 && <EmptyState title="No secret keys">Create one under Settings, Keys.</EmptyState>}
      {keys.map((key) => (
        <Panel key={key.id} title={key.name}>
          <Stack gap="xs">
            <PolicyInWords policy={key.policy} />
            <Group justify="space-between">
              <Text size="sm" c="dimmed">
                <Clip width={140}>{`${key.prefix}…`}</Clip> · last used <When at={key.last_used_at} />
              </Text>
              <PolicyButton of={key} done={changed} />
            </Group>
          </Stack>
        </Panel>
      ))}
    </Stack>
  )
}
