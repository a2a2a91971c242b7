import { Select, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { manage, type Page } from '../../api/client.ts'
import { type Identity, useIdentity, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CreateSecret } from '../../parts/create-secret.tsx'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

interface Token {
  id: string
  name: string
  role: Identity['role']
  project_id: string | null
  prefix: string
  created_at: string
  last_used_at: string | null
}

/** Management tokens: for people who sign in here, for the command line, for scripts. */
export function Tokens() {
  const projectId = useProjectId()
  const { data: who } = useIdentity()
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['tokens'] })
  const tokens = useInfiniteQuery({
    queryKey: ['tokens'],
    queryFn: ({ pageParam }) =>
      manage<Page<Token>>('GET', '/tokens', { query: { limit: 100, cursor: pageParam as string | undefined } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined
  })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        Tokens let people and scripts manage {who?.project_id ? 'this project' : 'projects'}. Servers that send messages
        use API keys instead.
      </Text>
      <CreateSecret
        label="Create token"
        what="token"
        warning="This is the only time the token is shown. Store it securely."
        create={(form) =>
          manage<{ token: string }>('POST', '/tokens', {
            body: {
              name: form.get('name'),
              role: form.get('role'),
              ...(form.get('reach') === 'all' ? {} : { project_id: projectId })
            }
          })
        }
        secretOf={({ token }) => token}
        done={changed}
        fields={(problem) => (
          <>
            <TextInput
              name="name"
              label="Name"
              description="The person or script that uses it."
              error={problem('name')}
              required
              data-autofocus
            />
            <Select
              name="role"
              label="Role"
              defaultValue="viewer"
              allowDeselect={false}
              data={[
                { value: 'viewer', label: 'Viewer: read-only' },
                { value: 'editor', label: 'Editor: can send and edit users and campaigns' },
                { value: 'admin', label: 'Admin: full access' }
              ]}
            />
            <Select
              name="reach"
              label="Access"
              defaultValue="this"
              allowDeselect={false}
              data={[
                { value: 'this', label: `Project ${projectId}` },
                ...(who?.project_id === null ? [{ value: 'all', label: 'All projects' }] : [])
              ]}
            />
          </>
        )}
      />
      <PagedList
        label="Tokens"
        pages={tokens}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No tokens" />}
        columns={[
          { name: 'Name', show: ({ name }) => name },
          { name: 'Role', show: ({ role }) => role },
          { name: 'Access', show: ({ project_id }) => project_id ?? 'All projects' },
          { name: 'Prefix', show: ({ prefix }) => <code>{prefix}…</code> },
          { name: 'Last used', show: ({ last_used_at }) => <When at={last_used_at} /> },
          {
            name: 'Actions',
            show: ({ id, name }) => (
              <ConfirmButton
                label="Revoke"
                question={`Sessions and requests using “${name}” will be rejected immediately.`}
                act={() => manage('DELETE', `/tokens/${id}`).then(changed)}
              />
            )
          }
        ]}
      />
    </Stack>
  )
}
