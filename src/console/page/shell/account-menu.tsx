import { Menu, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { BookIcon, OrganizationIcon, PersonIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { browser } from '../api/client.ts'
import { type Identity, useIdentity, useProjectId, useRole } from '../api/session.ts'
import { MoonIcon, SignOutIcon, SunIcon } from '../parts/icons.tsx'
import { AccountButton } from './account-button.tsx'

/** Who is signed in, with the way to the account, the members and out. */
export function AccountMenu() {
  const { data: identity } = useIdentity()
  return (
    <Menu position="bottom-end" width={260} defaultOpened>
      <Menu.Target>
        <AccountButton />
      </Menu.Target>
      <Menu.Dropdown>
        {identity && <Who identity={identity} />}
        <Menu.Divider />
        {(identity?.member || identity?.first_member) && (
          <Menu.Item leftSection={<PersonIcon />} component={Link} to="/account">
            {identity.member ? 'My account' : 'Create your account'}
          </Menu.Item>
        )}
        {identity?.installation_role === 'admin' && (
          <Menu.Item leftSection={<OrganizationIcon />} component={Link} to="/members">
            Members
          </Menu.Item>
        )}
        <ColorSchemeItem />
        <Menu.Item leftSection={<BookIcon />} component="a" href="/docs/" target="_blank" rel="noreferrer">
          Documentation
        </Menu.Item>
        <Menu.Divider />
        <SignOutItem />
      </Menu.Dropdown>
    </Menu>
  )
}

function Who({ identity: { name, member } }: { identity: Identity }) {
  const role = useRole()
  const inProject = useProjectId() !== ''
  return (
    <Menu.Label>
      <Text size="sm" fw={600} c="var(--mantine-color-text)" dir="auto" truncate title={name}>
        {name}
      </Text>
      {member?.email && (
        <Text size="xs" truncate title={member.email}>
          {member.email}
        </Text>
      )}
      <Text size="xs">
        {member ? '' : 'Management token · '}
        {role ? `${role[0]!.toUpperCase()}${role.slice(1)}` : 'No role'}
        {inProject ? ' in this project' : ''}
      </Text>
    </Menu.Label>
  )
}

function ColorSchemeItem() {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return (
    <Menu.Item
      leftSection={dark ? <SunIcon /> : <MoonIcon />}
      closeMenuOnClick={false}
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
    >
      {dark ? 'Light mode' : 'Dark mode'}
    </Menu.Item>
  )
}

function SignOutItem() {
  const queries = useQueryClient()
  const signOut = async () => {
    await browser('DELETE', '/console/session')
    queries.clear()
    // Drafts must not be visible to the next person who signs in.
    sessionStorage.clear()
    location.reload()
  }
  return (
    <Menu.Item leftSection={<SignOutIcon />} onClick={() => void signOut()}>
      Sign out
    </Menu.Item>
  )
}
