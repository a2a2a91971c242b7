import { AppShell, Burger, Group, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { localZone } from '../parts/local-time.ts'
import { DocsLink } from '../parts/texts.tsx'
import { Account, ProjectSelect } from './header.tsx'
import { PaletteButton } from './palette-button.tsx'

/** `GMT+2`, the offset of the viewer's time zone now. */
const offset = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' })
  .formatToParts(new Date())
  .find(({ type }) => type === 'timeZoneName')?.value

/** The frame of every page: header, menu and content. */
export function Frame({
  menu,
  badge,
  children
}: {
  menu: (close: () => void) => ReactNode
  badge?: ReactNode
  children: ReactNode
}) {
  const [opened, { toggle, close }] = useDisclosure()
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group wrap="nowrap" gap="sm" style={{ minWidth: 0 }}>
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <UnstyledButton component={Link} to="/" aria-label="Tidings home" visibleFrom="xs">
              <Text fw={700}>Tidings</Text>
            </UnstyledButton>
            <ProjectSelect />
            {badge}
          </Group>
          <Group wrap="nowrap" gap="xs">
            <PaletteButton />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Console">
        <AppShell.Section grow style={{ overflowY: 'auto' }}>
          {menu(close)}
        </AppShell.Section>
        <AppShell.Section px="sm" pt="xs">
          <Text size="xs" c="dimmed">
            Times in {localZone} ({offset})
          </Text>
          <DocsLink to="">Docs</DocsLink>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>{children}</AppShell.Main>
    </AppShell>
  )
}
