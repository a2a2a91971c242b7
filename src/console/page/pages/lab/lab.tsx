import { Alert, Badge, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Device, InboxItem } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProject, useProjectId } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PhoneRow } from '../../parts/phone/phone.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { Clip } from '../../parts/texts.tsx'
import { isBroadcast, useActivityTokens } from './activities.ts'
import { AddDevice, platformNames } from './add-device.tsx'
import { ChannelActivity } from './channel-activity.tsx'
import { GatewayConditions } from './gateway-conditions.tsx'
import { useInbox } from './inbox.ts'
import { Phone } from './phone.tsx'
import { RequestDetail, Requests } from './requests.tsx'
import { SendPush } from './send-push.tsx'

const maxPhones = 12

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
            <AddDevice />
            <SendPush />
            <ChannelActivity />
          </SimpleGrid>
          <Simulation />
        </>
      )}
    </PageLayout>
  )
}

/** The devices, the gateways between service and devices, and the requests they received. */
function Simulation() {
  const inbox = useInbox()
  const [opened, setOpened] = useState<InboxItem>()
  const reportTap = useTapReport()
  useActivityTokens(inbox.items)
  return (
    <>
      {inbox.state === 'lost' && (
        <Alert color="orange" role="status">
          Connection lost. Missed pushes appear after reconnecting.
        </Alert>
      )}
      {inbox.error && <ErrorAlert error={inbox.error} />}
      <Phones
        items={inbox.items}
        tap={(item) => {
          setOpened(item)
          reportTap(item)
        }}
      />
      <GatewayConditions />
      <Requests items={inbox.items} open={setOpened} />
      <RequestDetail item={opened} close={() => setOpened(undefined)} />
    </>
  )
}

/** Reports a tap on a notification, as the app does. */
function useTapReport() {
  const projectId = useProjectId()
  const canReport = useHasRole('editor')
  return ({ message_id, device_id }: InboxItem) => {
    if (!canReport || !message_id || !device_id) return
    const event = { device_id, name: 'PUSH_NOTIFICATION_TAPPED', event_property: { message_id } }
    void project(projectId, 'POST', '/api/v1/events', { body: { events: [event] } }).catch(() => {})
  }
}

function Phones({ items, tap }: { items: InboxItem[]; tap: (item: InboxItem) => void }) {
  const devices = usePagedList<Device>('/devices')
  const all = devices.data?.pages.flatMap((page) => page.items) ?? []
  const shown = all.slice(0, maxPhones)
  return (
    <>
      {devices.isSuccess && shown.length === 0 && (
        <EmptyState title="No devices yet">Add one above. It registers itself the way your app does.</EmptyState>
      )}
      <PhoneRow>
        {shown.map(({ id, platform, project_user_id, push }) => (
          <Stack key={id} gap={4} align="center" data-device={id}>
            <Phone
              platform={platform}
              label={`${platformNames[platform]} of ${project_user_id ?? 'no user'}`}
              items={items.filter((item) => item.device_id === id || isBroadcast(item))}
              open={tap}
            />
            <Text size="sm" fw={500}>
              {platformNames[platform]}
            </Text>
            <Text size="xs" c="dimmed">
              {project_user_id ? <Clip width={240}>{project_user_id}</Clip> : 'No user logged in'}
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
    </>
  )
}
