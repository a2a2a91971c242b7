import { Anchor, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { User } from '../../../../wire.ts'
import { fieldError } from '../../api/errors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { userLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { CreateUser } from './create-user.tsx'

export function Users() {
  const projectId = useProjectId()
  const [search, setSearch] = useUrlState('search')
  const [typed, setTyped] = useState(search)
  const searchSoon = useDebouncedCallback(setSearch, 250)
  const users = usePagedList<User>('/users', { search })
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
              <Anchor component={Link} to={userLink(projectId, project_user_id)}>
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
