import { ActionIcon, NativeSelect, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { session } from '../api/client.ts'
import { useIdentity, useProjectId, useProjects } from '../api/session.ts'
import { MoonIcon, SignOutIcon, SunIcon } from '../parts/icons.tsx'
import { pageLink } from '../parts/links.ts'

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

export function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return (
    <ActionIcon
      variant="default"
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
      aria-label={dark ? 'Switch to light mode' : 'Switch to dark mode'}
    >
      {dark ? <SunIcon /> : <MoonIcon />}
    </ActionIcon>
  )
}

export function SignOutButton() {
  const queries = useQueryClient()
  const { data } = useIdentity()
  const signOut = async () => {
    await session('DELETE')
    queries.clear()
    // Drafts must not be visible to the next person who signs in.
    sessionStorage.clear()
    location.reload()
  }
  return (
    <ActionIcon
      variant="default"
      onClick={() => void signOut()}
      aria-label="Sign out"
      title={`Signed in as ${data?.name} (${data?.role})`}
    >
      <SignOutIcon />
    </ActionIcon>
  )
}
