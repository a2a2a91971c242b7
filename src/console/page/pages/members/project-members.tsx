import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useIdentity, useProjectId } from '../../api/session.ts'
import { DocsLink } from '../../parts/texts.tsx'
import { MemberList } from './member-list.tsx'

/** The members of one project, for its admins. */
export function ProjectMembers() {
  const projectId = useProjectId()
  const { data: identity } = useIdentity()
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        People with a role in this project only. Members with a role in all projects have access too
        {identity?.installation_role === 'admin' && (
          <>
            {' '}
            (
            <Anchor component={Link} to="/members">
              All members
            </Anchor>
            )
          </>
        )}
        . <DocsLink to="guides/people" />
      </Text>
      <MemberList projectId={projectId} />
    </Stack>
  )
}
