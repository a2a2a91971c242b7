import { Alert, Badge, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useActivityTokens } from '../../activities.ts'
import { project } from '../../api.ts'
import { type InboxItem, useInbox } from '../../inbox.ts'
import { usePages } from '../../parts/list.tsx'
import { PageOf } from '../../parts/page.tsx'
import { Phone, PhoneRow, type Platform } from '../../parts/phone.tsx'
import { Empty, Failed } from '../../parts/states.tsx'
import { many } from '../../parts/texts.tsx'
import { useMay, useProject, useProjectId } from '../../who.ts'
import { AddDevices, names } from './lab-add.tsx'
import { Faults } from './lab-faults.tsx'
import { Detail, Requests } from './lab-requests.tsx'
import { SendPush } from './lab-send.tsx'

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
    <PageOf title="Device lab" about="Phones that live in this page. What any surface sends to them arrives here.">
      {live ? (
        <Empty title="This project is live">
          Its pushes go to real phones, and none is shown here. A project in simulator mode has a lab.
        </Empty>
      ) : (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <AddDevices />
            <SendPush />
          </SimpleGrid>
          <Phones />
        </>
      )}
    </PageOf>
  )
}

function Phones() {
  const projectId = useProjectId()
  const may = useMay('editor')
  const devices = usePages<Device>('/devices', {}, 5_000)
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
          The connection is lost. Pushes that arrive meanwhile are shown when it is back.
        </Alert>
      )}
      {inbox.error && <Failed error={inbox.error} />}
      {devices.isSuccess && shown.length === 0 && (
        <Empty title="No phone yet">Add one above: it registers itself as an app would.</Empty>
      )}
      <PhoneRow>
        {shown.map(({ id, platform, project_user_id, push }) => (
          <Stack key={id} gap={4} align="center" data-device={id}>
            <Phone
              platform={platform}
              label={`${names[platform]} of ${project_user_id ?? 'nobody'}`}
              items={inbox.items.filter(({ device_id }) => device_id === id)}
              open={tap}
            />
            <Text size="sm" fw={500}>
              {names[platform]}
            </Text>
            <Text size="xs" c="dimmed">
              {project_user_id ?? 'nobody is logged in'}
            </Text>
            {(!push || push.turned_off_at) && (
              <Badge color="red" variant="light">
                cannot be reached: {push?.turned_off_reason ?? 'no token'}
              </Badge>
            )}
          </Stack>
        ))}
      </PhoneRow>
      {all.length > shown.length && (
        <Text c="dimmed">
          The newest {many(shown.length, 'device')} of {devices.hasNextPage ? 'more than ' : ''}
          {all.length}. What reached the others stands below.
        </Text>
      )}
      <Faults />
      <Requests items={inbox.items} open={setOpened} />
      <Detail item={opened} close={() => setOpened(undefined)} />
    </>
  )
}
