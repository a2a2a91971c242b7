import { Badge, Box, Group, NativeSelect } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useProjectId, useProjects, useRole } from '../api/session.ts'
import { EyeIcon } from '../parts/icons.tsx'
import { pageLink } from '../parts/links.ts'
import { AccountButton } from './account-button.tsx'

const all = 'all projects'

/** A native select: it needs no code of the page, and phones show it best. The palette and the list of projects search. */
export function ProjectSelect() {
  const { data } = useProjects()
  const projectId = useProjectId()
  const navigate = useNavigate()
  return (
    <NativeSelect
      aria-label="Project"
      size="xs"
      w={{ base: 108, xs: 150 }}
      value={projectId || all}
      data={[
        ...(data?.items.map(({ id, name }) => ({ value: id, label: name || id })) ?? []),
        { value: all, label: 'All projects…' }
      ]}
      onChange={({ currentTarget: { value: id } }) =>
        void navigate({ to: id === all ? '/projects' : pageLink(id, 'home') })
      }
    />
  )
}

/** Loaded with the first click: the first page needs only the button. */
const loadMenu = () => import('./account-menu.tsx')
const AccountMenu = lazy(() => loadMenu().then(({ AccountMenu }) => ({ default: AccountMenu })))

/** The button of the account menu, and a badge for people who cannot change anything here. */
export function Account() {
  const [opened, setOpened] = useState(false)
  const role = useRole()
  const button = <AccountButton onClick={() => setOpened(true)} onPointerEnter={() => void loadMenu()} />
  return (
    <Group wrap="nowrap" gap="xs">
      {role === 'viewer' && (
        <Badge
          variant="light"
          color="gray"
          role="img"
          aria-label="View only"
          title="View only: your role is viewer, so you can change nothing here."
          style={{ flexShrink: 0 }}
        >
          <Box component="span" visibleFrom="sm">
            View only
          </Box>
          <Box component="span" hiddenFrom="sm">
            <EyeIcon />
          </Box>
        </Badge>
      )}
      {opened ? (
        <Suspense fallback={button}>
          <AccountMenu />
        </Suspense>
      ) : (
        button
      )}
    </Group>
  )
}
