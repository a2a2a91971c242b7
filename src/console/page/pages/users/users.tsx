import { Anchor, Group, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { User, UserProperties } from '../../../../wire.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { userLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState, Loading } from '../../parts/states.tsx'
import { Clip, DocsLink, When } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { ColumnsButton, propertyColumn, useColumns } from './columns.tsx'
import { CreateUser } from './create-user.tsx'
import { AddFilter, Filters } from './filters.tsx'
import { IndexedProperties } from './indexed-properties.tsx'
import { type Progress, type Search, useSearchPages } from './search-pages.ts'
import { SearchProgress } from './search-progress.tsx'
import { useUrlJson } from './url-json.ts'
import { shownValue } from './values.ts'

export function Users() {
  const projectId = useProjectId()
  const [search, setSearch] = useUrlState('search')
  const [where = {}, setWhere] = useUrlJson<UserProperties>('where')
  const [typed, setTyped] = useState(search)
  const searchSoon = useDebouncedCallback(setSearch, 250)
  const [columns, choose] = useColumns()
  const canIndex = useHasRole('admin')
  const filter = (next: UserProperties) => setWhere(Object.keys(next).length > 0 ? next : undefined)
  const { pages, progress } = useSearchPages({ search, where })
  return (
    <PageLayout
      title="Users"
      about="People who use your product."
      docs="guides/users#listing-searching-reading"
      actions={
        <>
          {canIndex && <IndexedProperties />}
          <CreateUser />
        </>
      }
    >
      <Stack gap="sm">
        <Group align="start" gap="sm">
          <TextInput
            label="Search"
            placeholder="Search by ID"
            value={typed}
            onChange={({ currentTarget }) => {
              setTyped(currentTarget.value)
              searchSoon(currentTarget.value)
            }}
            error={fieldError(pages.error, 'search')}
            dir="auto"
            w={240}
          />
          <AddFilter where={where} onChange={filter} />
        </Group>
        <Group justify="space-between" gap="sm">
          <Filters where={where} onChange={filter} />
          <ColumnsButton names={columns} choose={choose} />
        </Group>
        {progress && <SearchProgress {...progress} />}
      </Stack>
      <PagedList
        label="Users"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<NoUsers search={search} where={where} progress={progress} />}
        columns={[idColumn(projectId), ...columns.map(propertyColumn), ...times]}
      />
    </PageLayout>
  )
}

const idColumn = (projectId: string): Column<User> => ({
  name: 'ID',
  show: ({ project_user_id }) => (
    <Anchor component={Link} to={userLink(projectId, project_user_id)}>
      <Clip>{project_user_id}</Clip>
    </Anchor>
  )
})

const times: Column<User>[] = [
  { name: 'Created', show: ({ created_at }) => <When at={created_at} /> },
  { name: 'Updated', show: ({ updated_at }) => <When at={updated_at} /> }
]

function NoUsers({ search, where, progress }: Search & { progress: Progress | undefined }) {
  const filters = Object.entries(where).map(([name, value]) => `${name} is ${shownValue(value)}`)
  if (!progress)
    return (
      <EmptyState title="No users yet">
        Create one here, through the API, or import users with the CLI.{' '}
        <DocsLink to="guides/users">Read about users</DocsLink>
      </EmptyState>
    )
  if (progress.searching) return <Loading label="Searching" />
  if (!progress.complete) return <EmptyState title="No matches so far">The search was stopped.</EmptyState>
  return (
    <EmptyState title={`No users match ${[search && `“${search}”`, ...filters].filter(Boolean).join(' and ')}`}>
      {filters.length > 0
        ? 'Values must be equal and of the same type: the number 31 is not the text “31”.'
        : 'Try a shorter search.'}
    </EmptyState>
  )
}
