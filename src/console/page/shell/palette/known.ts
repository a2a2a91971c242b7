import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useHasRole, useIdentity, useProjectId, useProjects } from '../../api/session.ts'
import { pageLink } from '../../parts/links.ts'
import { groups } from '../menu.tsx'
import type { Entry } from './entries.ts'

const settings = [
  ['limits', 'Sending limits'],
  ['gateways', 'Gateways'],
  ['keys', 'API keys'],
  ['identity', 'Identity verification'],
  ['tokens', 'Management tokens'],
  ['audit', 'Audit log']
] as const

/** What can be done from everywhere. */
export function useActions(): Entry[] {
  const projectId = useProjectId()
  const canWrite = useHasRole('editor') && projectId !== ''
  const isAdmin = useIdentity().data?.installation_role === 'admin'
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  const writing: [label: string, page: string][] = [
    ['New campaign', 'new-campaign'],
    ['New segment', 'new-segment'],
    ['Send a test push', 'lab'],
    ['Create an API key', 'settings?tab=keys'],
    ['Add a webhook', 'webhooks']
  ]
  return [
    ...(canWrite
      ? writing.map(([label, page]) => ({ group: 'Actions' as const, label, to: pageLink(projectId, page) }))
      : []),
    ...(isAdmin ? [{ group: 'Actions' as const, label: 'Invite a member', to: '/members' }] : []),
    {
      group: 'Actions',
      label: dark ? 'Switch to light mode' : 'Switch to dark mode',
      act: () => setColorScheme(dark ? 'light' : 'dark')
    },
    { group: 'Actions', label: 'Open the API reference', href: '/docs/api' }
  ]
}

/** The pages of the open project, and other projects. */
export function usePages(): Entry[] {
  const projectId = useProjectId()
  const isAdmin = useIdentity().data?.installation_role === 'admin'
  const projects = useProjects().data?.items ?? []
  const own =
    projectId === ''
      ? []
      : [
          ...groups.flatMap(([, items]) =>
            items.map(([page, label]) => ({ group: 'Pages' as const, label, to: pageLink(projectId, page) }))
          ),
          ...settings.map(([tab, label]) => ({
            group: 'Pages' as const,
            label,
            hint: 'Settings',
            to: pageLink(projectId, `settings?tab=${tab}`)
          }))
        ]
  return [
    ...own,
    { group: 'Pages', label: 'All projects', to: '/projects' },
    ...(isAdmin
      ? [{ group: 'Pages' as const, label: 'Audit log of the installation', hint: 'All projects', to: '/audit' }]
      : []),
    ...projects
      .filter(({ id }) => id !== projectId)
      .map(({ id, name }) => ({ group: 'Projects' as const, label: name || id, hint: id, to: pageLink(id, 'home') }))
  ]
}
