import { Select, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { CreatedToken, Page, Token } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { useIdentity, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { CreateSecret } from '../../parts/forms/create-secret.tsx'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

/** Management tokens: for people who sign in here, for the CLI and for scripts. */
export function Tokens() {
  const { data: identity } = useIdentity()
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
        Tokens let people and scripts manage {identity?.installation_role ? 'projects' : 'this project'}. Servers that
        send messages use API keys instead.
      </Text>
      <CreateToken done={changed} />
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
                title="Revoke token?"
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

function CreateToken({ done }: { done: () => unknown }) {
  const projectId = useProjectId()
  const { data: identity } = useIdentity()
  return (
    <CreateSecret
      label="Create token"
      what="token"
      warning="This is the only time the token is shown. Store it securely."
      initialValues={{ name: '', role: 'viewer', access: 'this' }}
      create={({ name, role, access }) =>
        manage<CreatedToken>('POST', '/tokens', {
          body: { name, role, ...(access === 'this' && { project_id: projectId }) }
        })
      }
      secretOf={({ token }) => token}
      done={done}
      fields={(form) => (
        <>
          <TextInput
            {...form.getInputProps('name')}
            label="Name"
            description="The person or script that uses it."
            required
            data-autofocus
          />
          <Select {...form.getInputProps('role')} label="Role" allowDeselect={false} data={roles} />
          <Select
            {...form.getInputProps('access')}
            label="Access"
            allowDeselect={false}
            data={[
              { value: 'this', label: `Project ${projectId}` },
              ...(identity?.installation_role === 'admin' ? [{ value: 'all', label: 'All projects' }] : [])
            ]}
          />
        </>
      )}
    />
  )
}

const roles = [
  { value: 'viewer', label: 'Viewer: read-only' },
  { value: 'editor', label: 'Editor: can send and edit users and campaigns' },
  { value: 'admin', label: 'Admin: full access' }
]
