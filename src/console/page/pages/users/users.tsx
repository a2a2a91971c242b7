import { Anchor, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { problemAt, problemOf, project } from '../../api.ts'
import { useInUrl } from '../../parts/in-url.tsx'
import { ListOf, usePages } from '../../parts/list.tsx'
import { PageOf } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { useMay, useProjectId } from '../../who.ts'

export interface UserItem {
  id: string
  project_user_id: string | null
  properties: Record<string, string | number | boolean | null>
  created_at: string
  updated_at: string
}

export const userLink = (projectId: string, projectUserId: string) =>
  `/p/${encodeURIComponent(projectId)}/users/${encodeURIComponent(projectUserId)}`

export function Users() {
  const projectId = useProjectId()
  const [search, setSearch] = useInUrl('search')
  const [typed, setTyped] = useState(search)
  const searchSoon = useDebouncedCallback(setSearch, 250)
  const users = usePages<UserItem>('/users', { search })
  return (
    <PageOf title="Users" about="People who use your product." actions={<CreateUser />}>
      <TextInput
        label="Search"
        placeholder="Search by ID"
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          searchSoon(currentTarget.value)
        }}
        error={problemAt(users.error, 'search')}
        maw={360}
      />
      <ListOf
        label="Users"
        pages={users}
        keyOf={({ id }) => id}
        empty={
          <Empty title={search ? `No users match “${search}”` : 'No users yet'}>
            {search ? 'Try a shorter search.' : 'Create one here, through the API, or import users with the CLI.'}
          </Empty>
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
    </PageOf>
  )
}

function CreateUser() {
  const projectId = useProjectId()
  const may = useMay('editor')
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
              error={problemOf(create.error, 'project_user_id')}
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
