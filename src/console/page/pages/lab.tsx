import { Alert, Badge, Button, Code, Group, Modal, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useActivityTokens } from '../activities.ts'
import { project } from '../api.ts'
import { arrived, type InboxItem, useInbox } from '../inbox.ts'
import { usePages } from '../parts/list.tsx'
import { PageOf } from '../parts/page.tsx'
import { Phone, type Platform } from '../parts/phone.tsx'
import { Empty, Failed } from '../parts/states.tsx'
import { Lines, When } from '../parts/texts.tsx'
import { useMay, useProject, useProjectId } from '../who.ts'
import { Faults } from './lab-faults.tsx'

interface Device {
  id: string
  platform: Platform
  project_user_id: string | null
  push: { turned_off_at?: string; turned_off_reason?: string } | null
}

const names: Record<Platform, string> = { IOS: 'iPhone', ANDROID: 'Android phone', WEB: 'Browser' }

export function Lab() {
  const live = useProject()?.mode === 'live'
  return (
    <PageOf
      title="Device lab"
      about="Phones that live in this page. What any surface sends to them arrives here."
      actions={live ? null : <AddDevices />}
    >
      {live ? (
        <Empty title="This project is live">
          Its pushes go to real phones, and none is shown here. A project in simulator mode has a lab.
        </Empty>
      ) : (
        <Phones />
      )}
    </PageOf>
  )
}

function AddDevices() {
  const projectId = useProjectId()
  const may = useMay('editor')
  const queries = useQueryClient()
  const [user, setUser] = useState('demo-user')
  const [fault, setFault] = useState('')
  const add = useMutation({
    mutationFn: (platform: Platform) =>
      project(projectId, 'POST', '/simulator/devices', {
        body: { platform, ...(user && { project_user_id: user }), ...(fault && { fault }) }
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['list', projectId, '/devices'] })
  })
  if (!may) return null
  return (
    <Stack gap={4}>
      <Group gap="xs" align="end">
        <TextInput
          label="Whose phone"
          size="xs"
          value={user}
          error={add.error?.message}
          onChange={({ currentTarget }) => setUser(currentTarget.value)}
        />
        <Select
          label="What is wrong with it"
          size="xs"
          allowDeselect={false}
          value={fault}
          onChange={(chosen) => setFault(chosen ?? '')}
          data={[
            { value: '', label: 'nothing' },
            { value: '410', label: 'the app was uninstalled' },
            { value: 'slow:3000', label: 'it answers slowly' },
            { value: 'flaky:2', label: 'it fails twice, then works' }
          ]}
        />
        {(Object.keys(names) as Platform[]).map((platform) => (
          <Button key={platform} variant="light" size="xs" loading={add.isPending} onClick={() => add.mutate(platform)}>
            Add {names[platform]}
          </Button>
        ))}
      </Group>
    </Stack>
  )
}

function Phones() {
  const projectId = useProjectId()
  const may = useMay('editor')
  const devices = usePages<Device>('/devices', {}, 5_000)
  const inbox = useInbox()
  useActivityTokens(inbox.items)
  const [opened, setOpened] = useState<InboxItem>()
  const shown = (devices.data?.pages.flatMap(({ items }) => items) ?? []).slice(0, 12)
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
      <Group align="start" gap="lg">
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
      </Group>
      <Faults />
      <Requests items={inbox.items} open={setOpened} />
      <Detail item={opened} close={() => setOpened(undefined)} />
    </>
  )
}

/** Everything that reached a gateway, also what it refused. */
const Requests = ({ items, open }: { items: InboxItem[]; open: (item: InboxItem) => void }) => (
  <Stack gap="xs">
    <Title order={2} size="h4">
      What the gateways saw
    </Title>
    {items.length === 0 && <Text c="dimmed">Nothing yet.</Text>}
    {items.slice(0, 50).map((item) => (
      <Group key={item.id} gap="xs" wrap="nowrap">
        <Badge color={arrived(item) ? 'teal' : 'red'} variant="light" w={64} style={{ flexShrink: 0 }}>
          {item.answer.status || 'cut'}
        </Badge>
        <Text size="sm" w={70}>
          {item.gateway}
        </Text>
        <Button variant="subtle" size="compact-sm" onClick={() => open(item)}>
          {item.title ?? item.body ?? 'Live Activity'}
        </Button>
        <Text size="xs" c="dimmed">
          {item.answer.reason} <When at={item.received_at} />
        </Text>
      </Group>
    ))}
  </Stack>
)

const Detail = ({ item, close }: { item: InboxItem | undefined; close: () => void }) => (
  <Modal opened={item !== undefined} onClose={close} title={item?.title ?? 'Push'} size="lg">
    {item && (
      <Stack gap="xs">
        {item.landing_url && (
          <Text>
            Opens <Code>{item.landing_url}</Code>
          </Text>
        )}
        <Text size="sm">
          The gateway answered {item.answer.status || 'nothing'} {item.answer.reason}
          {item.answer.gateway_message_id && ` as ${item.answer.gateway_message_id}`}.
        </Text>
        <Lines>{item.request.path}</Lines>
        <Lines>
          {Object.entries(item.request.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </Lines>
        <Lines>{JSON.stringify(item.request.payload, null, 2)}</Lines>
      </Stack>
    )}
  </Modal>
)
