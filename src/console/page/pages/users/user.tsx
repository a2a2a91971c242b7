import { Badge, Button, Group, JsonInput, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { project } from '../../api/client.ts'
import { fieldOrFormError } from '../../api/errors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { errorText, readObject } from '../../parts/json.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EmptyState, Shown } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { MessageList } from '../messages/message-list.tsx'
import type { UserItem } from './users.tsx'

export function User() {
  const projectId = useProjectId()
  const { userId = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const may = useHasRole('editor')
  const path = `/users/${encodeURIComponent(userId)}`
  const user = useQuery({
    queryKey: ['user', projectId, userId],
    queryFn: () => project<UserItem>(projectId, 'GET', path)
  })
  const remove = async () => {
    await project(projectId, 'DELETE', `/api/v1${path}`)
    void navigate({ to: `/p/${encodeURIComponent(projectId)}/users` })
  }
  return (
    <PageLayout
      title={userId}
      about="Properties, devices, events and messages."
      actions={
        may &&
        user.data && (
          <ConfirmButton
            label="Delete user"
            question="Permanently deletes the user with all properties, devices, events and messages."
            type={userId}
            act={remove}
          />
        )
      }
    >
      <Shown query={user}>
        {(found) => (
          <PageTabs
            tabs={[
              ['properties', 'Properties', <Properties key={`properties ${found.id}`} user={found} />],
              ['devices', 'Devices', <Devices key="devices" userId={userId} />],
              ['events', 'Events', <Events key="events" userId={userId} />],
              ['messages', 'Messages', <MessageList key="messages" query={{ project_user_id: userId }} />]
            ]}
          />
        )}
      </Shown>
    </PageLayout>
  )
}

function Properties({ user }: { user: UserItem }) {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const queries = useQueryClient()
  // What is typed is compared with what stood there then: a refetch meanwhile neither drops it nor counts as a change.
  const [edit, setEdit] = useState<{ text: string; from: UserItem }>()
  const text = edit?.text ?? JSON.stringify(user.properties, null, 2)
  const save = useMutation({
    mutationFn: async () => {
      const properties = readObject(text)
      if (properties instanceof Error) throw properties
      await saveProperties(projectId, edit?.from ?? user, properties)
      await queries.invalidateQueries({ queryKey: ['user', projectId, user.project_user_id] })
      setEdit(undefined)
    }
  })
  const wrong = errorText(readObject(text))
  return (
    <Stack maw={640}>
      <JsonInput
        label="Properties"
        description={
          may &&
          'Values: text, number, true, false or null. Properties you delete here are removed on save; others are kept.'
        }
        value={text}
        onChange={(typed) => setEdit({ text: typed, from: edit?.from ?? user })}
        error={wrong ?? fieldOrFormError(save.error, 'properties')}
        readOnly={!may || save.isPending}
        autosize
        minRows={6}
        maxRows={24}
        styles={{ input: { fontFamily: 'monospace' } }}
      />
      {may && (
        <Group>
          <Button onClick={() => save.mutate()} loading={save.isPending} disabled={wrong !== undefined}>
            Save
          </Button>
          {save.isSuccess && !edit && <Text role="status">Saved.</Text>}
        </Group>
      )}
      <Text size="sm" c="dimmed">
        Created <When at={user.created_at} /> · Internal ID {user.id}
      </Text>
    </Stack>
  )
}

/** Only what differs is sent, so that properties which an app changes at the same time stay. */
async function saveProperties(projectId: string, user: UserItem, properties: Record<string, unknown>) {
  const path = `/api/v1/users/${encodeURIComponent(user.project_user_id!)}`
  const changed = Object.entries(properties).filter(([name, value]) => user.properties[name] !== value)
  const removed = Object.keys(user.properties).filter((name) => !Object.hasOwn(properties, name))
  if (changed.length > 0) await project(projectId, 'PATCH', path, { body: { properties: Object.fromEntries(changed) } })
  if (removed.length > 0) await project(projectId, 'POST', `${path}/properties:remove`, { body: { names: removed } })
}

interface DeviceItem {
  id: string
  platform: string
  is_push_permission_granted: boolean
  push: { type: string; token_prefix: string; environment: string; turned_off_reason?: string } | null
  last_seen_at: string
}

function Devices({ userId }: { userId: string }) {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const pages = usePagedList<DeviceItem>('/devices', { project_user_id: userId })
  const remove = async (id: string) => {
    await project(projectId, 'DELETE', `/api/v1/devices/${encodeURIComponent(id)}`)
    await pages.refetch()
  }
  return (
    <PagedList
      label="Devices"
      pages={pages}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No devices">A device appears after the app registers it and this user logs in.</EmptyState>
      }
      columns={[
        { name: 'ID', show: ({ id }) => id },
        { name: 'Platform', show: ({ platform }) => platform },
        {
          name: 'Push',
          show: ({ push, is_push_permission_granted: allowed }) => (
            <Badge color={push && allowed && !push.turned_off_reason ? 'teal' : 'gray'} variant="light">
              {!allowed ? 'push disabled' : push ? (push.turned_off_reason ?? push.type) : 'no push token'}
            </Badge>
          )
        },
        { name: 'Last seen', show: ({ last_seen_at }) => <When at={last_seen_at} /> },
        ...(may
          ? [
              {
                name: 'Actions',
                show: ({ id }: DeviceItem) => (
                  <ConfirmButton
                    label="Delete"
                    title={`Delete device ${id}?`}
                    question="Deletes the device and its push tokens. The app registers it again on its next start."
                    act={() => remove(id)}
                  />
                )
              }
            ]
          : [])
      ]}
    />
  )
}

interface EventItem {
  id: string
  at: string
  name: string
  device_id: string | null
  properties: object
}

const Events = ({ userId }: { userId: string }) => (
  <PagedList
    label="Events"
    pages={usePagedList<EventItem>('/events', { project_user_id: userId })}
    keyOf={({ id }) => id}
    empty={<EmptyState title="No events">Events tracked for this user appear here.</EmptyState>}
    columns={[
      { name: 'Time', show: ({ at }) => <When at={at} /> },
      { name: 'Event', show: ({ name }) => name },
      { name: 'Device', show: ({ device_id }) => device_id ?? '–' },
      { name: 'Properties', show: ({ properties }) => <Text size="sm">{JSON.stringify(properties)}</Text> }
    ]}
  />
)
