import { Alert, Badge, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProject, useProjectId } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Phone, PhoneRow, type Platform } from '../../parts/phone.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { useActivityTokens } from './activities.ts'
import { AddDevices, names } from './add-device.tsx'
import { Faults } from './gateway-conditions.tsx'
import { type InboxItem, useInbox } from './inbox.ts'
import { Detail, Requests } from './requests.tsx'
import { SendPush } from './send-push.tsx'

interface Device {
  id: string
  platform: Platform
  project_user_id: string | null
  push: { turned_off_at?: string; turned_off_reason?: string } | null
}

/** More than this on one page nobody looks at. */
const phonesAtMost = 12

export function Lab() {
  const live = useProject()?.mode === 'live'
  return (
    <PageLayout title="Device lab" about="Simulated devices. Anything you send to them shows up here.">
      {live ? (
        <EmptyState title="This project is live">
          Its pushes go to real devices. Only projects in simulator mode have a device lab.
        </EmptyState>
      ) : (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <AddDevices />
            <SendPush />
          </SimpleGrid>
          <Phones />
        </>
      )}
    </PageLayout>
  )
}

function Phones() {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  const devices = usePagedList<Device>('/devices', {}, 5_000)
  const inbox = useInbox()
  useActivityTokens(inbox.items)
  const [opened, setOpened] = useState<InboxItem>()
  const all = devices.data?.pages.flatMap(({ items }) => items) ?? []
  const shown = all.slice(0, phonesAtMost)
  const tap = (item: InboxItem) => {
    setOpened(item)
    if (!may || !item.message_id || !item.device_id) return
    const event = {
      device_id: item.device_id,
      name: 'PUSH_NOTIFICATION_TAPPED',
      event_property: { message_id: item.message_id }
    }
    void project(projectId, 'POST', '/api/v1/events', { body: { events: [event] } }).catch(() => {})
  }
  return (
    <>
      {inbox.state === 'lost' && (
        <Alert color="orange" role="status">
          Connection lost. Missed pushes appear after reconnecting.
        </Alert>
      )}
      {inbox.error && <ErrorAlert error={inbox.error} />}
      {devices.isSuccess && shown.length === 0 && (
        <EmptyState title="No devices yet">Add one above. It registers itself the way your app does.</EmptyState>
      )}
      <PhoneRow>
        {shown.map(({ id, platform, project_user_id, push }) => (
          <Stack key={id} gap={4} align="center" data-device={id}>
            <Phone
              platform={platform}
              label={`${names[platform]} of ${project_user_id ?? 'no user'}`}
              items={inbox.items.filter(({ device_id }) => device_id === id)}
              open={tap}
            />
            <Text size="sm" fw={500}>
              {names[platform]}
            </Text>
            <Text size="xs" c="dimmed">
              {project_user_id ?? 'No user logged in'}
            </Text>
            {(!push || push.turned_off_at) && (
              <Badge color="red" variant="light">
                Unreachable: {push?.turned_off_reason ?? 'no push token'}
              </Badge>
            )}
          </Stack>
        ))}
      </PhoneRow>
      {all.length > shown.length && (
        <Text c="dimmed">
          Showing the newest {shown.length} of {devices.hasNextPage ? 'more than ' : ''}
          {all.length} devices. Requests to the others are listed below.
        </Text>
      )}
      <Faults />
      <Requests items={inbox.items} open={setOpened} />
      <Detail item={opened} close={() => setOpened(undefined)} />
    </>
  )
}
