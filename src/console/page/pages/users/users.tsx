import { Anchor, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { project } from '../../api/client.ts'
import { fieldError, fieldOrFormError } from '../../api/errors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { userLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'

export interface UserItem {
  id: string
  project_user_id: string | null
  properties: Record<string, string | number | boolean | null>
  created_at: string
  updated_at: string
}

export function Users() {
  const projectId = useProjectId()
  const [search, setSearch] = useUrlState('search')
  const [typed, setTyped] = useState(search)
  const searchSoon = useDebouncedCallback(setSearch, 250)
  const users = usePagedList<UserItem>('/users', { search })
  return (
    <PageLayout title="Users" about="People who use your product." actions={<CreateUser />}>
      <TextInput
        label="Search"
        placeholder="Search by ID"
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          searchSoon(currentTarget.value)
        }}
        error={fieldError(users.error, 'search')}
        maw={360}
      />
      <PagedList
        label="Users"
        pages={users}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title={search ? `No users match “${search}”` : 'No users yet'}>
            {search ? 'Try a shorter search.' : 'Create one here, through the API, or import users with the CLI.'}
          </EmptyState>
        }
        columns={[
          {
            name: 'ID',
            show: ({ project_user_id }) => (
              <Anchor component={Link} to={userLink(projectId, project_user_id!)}>
                {project_user_id}
              </Anchor>
            )
          },
          { name: 'Properties', show: ({ properties }) => Object.keys(properties).length },
          { name: 'Created', show: ({ created_at }) => <When at={created_at} /> },
          { name: 'Updated', show: ({ updated_at }) => <When at={updated_at} /> }
        ]}
      />
    </PageLayout>
  )
}

function CreateUser() {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [opened, { open, close }] = useDisclosure()
  const create = useMutation({
    mutationFn: (id: string) => project(projectId, 'POST', '/api/v1/users', { body: { project_user_id: id } }),
    onSuccess: (_, id) => {
      void queries.invalidateQueries({ queryKey: ['list', projectId, '/users'] })
      close()
      void navigate({ to: userLink(projectId, id) })
    }
  })
  if (!may) return null
  return (
    <>
      <Button onClick={open}>Create user</Button>
      <Modal opened={opened} onClose={close} title="Create user" centered>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            create.mutate(String(new FormData(event.currentTarget).get('id')))
          }}
        >
          <Stack>
            <TextInput
              name="id"
              label="ID"
              description="Your ID for this user."
              error={fieldOrFormError(create.error, 'project_user_id')}
              required
              data-autofocus
            />
            <Group justify="end">
              <Button type="submit" loading={create.isPending}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
