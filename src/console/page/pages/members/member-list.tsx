import { Badge, Group, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { Member, Page } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { useIdentity, useProjects } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'
import { InviteButton } from './invite.tsx'
import { MemberActions } from './member-actions.tsx'
import { RoleSelect } from './role-select.tsx'

/** Members and invitations, one row for each role. With a project: those of the project only. */
export function MemberList({ projectId }: { projectId?: string }) {
  const queries = useQueryClient()
  const { data: identity } = useIdentity()
  const changed = () => queries.invalidateQueries({ queryKey: ['members'] })
  const members = useInfiniteQuery({
    queryKey: ['members', projectId ?? null],
    queryFn: ({ pageParam }) =>
      manage<Page<Member>>('GET', '/members', {
        query: { project_id: projectId, limit: 100, cursor: pageParam as string | undefined }
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined
  })
  const columns: Column<Member>[] = [
    { name: 'Person', show: (member) => <Person member={member} own={member.id === identity?.member?.id} /> },
    { name: 'Role', show: (member) => <RoleSelect member={member} changed={changed} /> },
    ...(projectId === undefined ? [{ name: 'Access', show: (member: Member) => <Access member={member} /> }] : []),
    { name: 'Last seen', show: (member) => <Seen member={member} /> },
    { name: 'Actions', show: (member) => <MemberActions member={member} changed={changed} /> }
  ]
  return (
    <Stack>
      <InviteButton projectId={projectId} done={changed} />
      <PagedList
        label="Members"
        pages={members}
        keyOf={({ id, project_id }) => `${id} ${project_id}`}
        columns={columns}
        empty={
          <EmptyState title={projectId === undefined ? 'No members yet' : 'No members of this project only'}>
            {projectId === undefined
              ? 'Create your own account in the account menu, then invite your team.'
              : 'Invite people to this project alone. Members with access to all projects are on the page Members.'}
          </EmptyState>
        }
      />
    </Stack>
  )
}

function Person({ member: { name, email, state }, own }: { member: Member; own: boolean }) {
  return (
    <div>
      <Group gap="xs" wrap="nowrap">
        <Clip width={200}>{name || email}</Clip>
        {own && (
          <Badge size="sm" variant="light">
            You
          </Badge>
        )}
        {state === 'invited' && (
          <Badge size="sm" variant="light" color="orange">
            Invited
          </Badge>
        )}
      </Group>
      {name && email && (
        <Text size="xs" c="dimmed">
          <Clip width={240}>{email}</Clip>
        </Text>
      )}
    </div>
  )
}

function Access({ member: { project_id } }: { member: Member }) {
  const { data } = useProjects()
  if (project_id === null) return 'All projects'
  return <Clip width={160}>{data?.items.find(({ id }) => id === project_id)?.name || project_id}</Clip>
}

function Seen({ member: { state, last_seen_at, invitation_expires_at } }: { member: Member }) {
  if (state === 'active') return <When at={last_seen_at} />
  if (!invitation_expires_at) return 'Invitation expired'
  return (
    <>
      Invitation ends <When at={invitation_expires_at} />
    </>
  )
}
