import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import type { Page, Session } from '../../../../wire.ts'
import { manage } from '../../api/client.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'

const ways: Record<Session['how'], string> = {
  password: 'Password',
  passkey: 'Passkey',
  oidc: 'Identity provider',
  link: 'Link',
  token: 'Management token'
}

/** Browsers that are signed in: one's own, or those of another member. */
export function Sessions({ memberId }: { memberId?: string }) {
  const queries = useQueryClient()
  const query = memberId === undefined ? {} : { member_id: memberId }
  const sessions = useInfiniteQuery({
    queryKey: ['sessions', memberId ?? 'own'],
    queryFn: ({ pageParam }) =>
      manage<Page<Session>>('GET', '/sessions', {
        query: { ...query, limit: 50, cursor: pageParam as string | undefined }
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined
  })
  const ending = useMutation({
    mutationFn: (id: string | null) =>
      id === null ? manage('DELETE', '/sessions', { query }) : manage('DELETE', `/sessions/${id}`),
    onSuccess: (_, id) => {
      toast(id === null ? 'Sessions ended' : 'Session ended')
      return queries.invalidateQueries({ queryKey: ['sessions'] })
    }
  })
  const others = sessions.data?.pages.some(({ items }) => items.some(({ current }) => !current))
  return (
    <Stack>
      {ending.error && <ErrorAlert error={ending.error} />}
      <PagedList
        label="Signed-in browsers"
        pages={sessions}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No sessions" />}
        columns={[
          {
            name: 'Device',
            show: ({ device, current }) => (
              <Group gap="xs" wrap="nowrap">
                <Text size="sm">{device}</Text>
                {current && (
                  <Badge size="sm" variant="light">
                    This browser
                  </Badge>
                )}
              </Group>
            )
          },
          { name: 'Signed in by', show: ({ how }) => ways[how] },
          { name: 'Address', show: ({ address }) => address ?? '–' },
          { name: 'Signed in', show: ({ created_at }) => <When at={created_at} /> },
          { name: 'Last seen', show: ({ last_seen_at }) => <When at={last_seen_at} /> },
          {
            name: 'Actions',
            show: ({ id, current }) =>
              !current && (
                <Button
                  size="xs"
                  variant="light"
                  color="red"
                  loading={ending.isPending && ending.variables === id}
                  onClick={() => ending.mutate(id)}
                >
                  End session
                </Button>
              )
          }
        ]}
      />
      {others && (
        <Group>
          <Button
            variant="default"
            onClick={() => ending.mutate(null)}
            loading={ending.isPending && ending.variables === null}
          >
            {memberId === undefined ? 'End all other sessions' : 'End all sessions'}
          </Button>
        </Group>
      )}
    </Stack>
  )
}
