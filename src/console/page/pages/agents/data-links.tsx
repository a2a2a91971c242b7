import { Anchor, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useProjectId } from '../../api/session.ts'
import { approvalLink, campaignLink, messageLink, triggerLink, userLink } from '../../parts/links.ts'

type Found = [label: string, to: string]

/** Pages of what the data names, in the order in which a person would look. */
function linksIn(projectId: string, data: unknown): Found[] {
  if (typeof data !== 'object' || data === null) return []
  const named = data as Record<string, unknown>
  const links: [name: string, label: string, link: (projectId: string, id: string) => string][] = [
    ['approvalId', 'Open approval', approvalLink],
    ['triggerId', 'Open trigger', triggerLink],
    ['campaignId', 'Open campaign', campaignLink],
    ['projectUserId', 'Open user', userLink],
    ['messageId', 'Open message', messageLink]
  ]
  return links.flatMap(([name, label, link]) => {
    const id = named[name]
    return typeof id === 'string' && id !== '' ? [[label, link(projectId, id)] as Found] : []
  })
}

export function DataLinks({ data }: { data: unknown }) {
  const links = linksIn(useProjectId(), data)
  if (links.length === 0) return null
  return (
    <Group gap="md">
      {links.map(([label, to]) => (
        <Anchor key={label} size="sm" component={Link} to={to}>
          {label}
        </Anchor>
      ))}
    </Group>
  )
}
