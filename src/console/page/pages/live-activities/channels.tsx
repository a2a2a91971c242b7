import { Badge, Code, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { ActivityChannel } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, DocsLink, When } from '../../parts/texts.tsx'
import { toast } from '../../parts/toasts.tsx'
import { ChangeButton } from './change-button.tsx'
import { CreateButton } from './create-button.tsx'
import { channelsPath } from './path.ts'

const colors: Record<string, string> = { active: 'teal', creating: 'cyan', deleting: 'gray', failed: 'red' }

/** The broadcast channels of the project with their state. One request changes all Live Activities of a channel. */
export function Channels() {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const queries = useQueryClient()
  const renew = () => queries.invalidateQueries({ queryKey: ['list', projectId, channelsPath] })
  const columns = columnsOf(canEdit, renew, async (id) => {
    await project(projectId, 'DELETE', `${channelsPath}/${id}`)
    toast('Channel deleted.')
    await renew()
  })
  return (
    <PageLayout
      title="Live Activities"
      about={
        <>
          Broadcast channels. One request updates or ends every Live Activity of a channel.{' '}
          <DocsLink to="guides/live-activities" />
        </>
      }
      actions={canEdit && <CreateButton done={renew} />}
    >
      <PagedList
        label="Channels"
        pages={usePagedList<ActivityChannel>(channelsPath)}
        keyOf={({ channel_id }) => channel_id}
        columns={columns}
        empty={
          <EmptyState title="No channels yet">
            Create one, then start Live Activities with its channel_id. A score or a flight is one broadcast, however
            many phones follow it.
          </EmptyState>
        }
      />
    </PageLayout>
  )
}

const columnsOf = (
  canEdit: boolean,
  renew: () => Promise<void>,
  remove: (id: string) => Promise<void>
): Column<ActivityChannel>[] => [
  {
    name: 'Channel',
    show: ({ channel_id, attributes_type }) => (
      <>
        <Clip width={220}>{attributes_type}</Clip>
        <Text size="xs" c="dimmed">
          <Clip width={220}>{channel_id}</Clip>
        </Text>
      </>
    )
  },
  {
    name: 'App',
    show: ({ app, push_environment }) => (
      <>
        <Clip width={180}>{app}</Clip>
        <Text size="xs" c="dimmed">
          {push_environment}
        </Text>
      </>
    )
  },
  { name: 'Offline phones get', show: ({ storage }) => (storage === 'most_recent' ? 'The newest change' : 'Nothing') },
  {
    name: 'Status',
    show: ({ status, failure_reason }) => (
      <Badge color={colors[status] ?? 'gray'} variant="light" title={failure_reason}>
        {status}
      </Badge>
    )
  },
  {
    name: 'State',
    show: ({ content_state }) =>
      content_state ? (
        <Code>
          <Clip width={220}>{JSON.stringify(content_state)}</Clip>
        </Code>
      ) : (
        '–'
      )
  },
  { name: 'Changed', show: ({ updated_at }) => <When at={updated_at} /> },
  ...(canEdit
    ? [
        {
          name: 'Actions',
          show: (channel: ActivityChannel) => (
            <Group gap="xs" wrap="nowrap">
              {channel.status === 'active' && <ChangeButton channel={channel} done={renew} />}
              <ConfirmButton
                label="Delete"
                title="Delete this channel?"
                question="Activities that listen to it get no further changes. Apple deletes it too."
                act={() => remove(channel.channel_id)}
              />
            </Group>
          )
        }
      ]
    : [])
]
