import { Alert, Badge, Button, Group, Modal, MultiSelect, Select, Stack, Tabs, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { project } from '../api.ts'
import { Ask } from '../parts/ask.tsx'
import { ListOf, usePages } from '../parts/list.tsx'
import { PageOf } from '../parts/page.tsx'
import { Empty, Failed } from '../parts/states.tsx'
import { CopyBlock, When } from '../parts/texts.tsx'
import { useMay, useProjectId } from '../who.ts'

const eventTypes = ['message.accepted', 'message.failed', 'message.delivered', 'message.tapped', 'trigger.completed']

interface Webhook {
  id: string
  url: string
  events: string[]
  active: boolean
}
interface Delivery {
  id: string
  state: 'pending' | 'delivered' | 'failed'
  url: string
  attempts: number
  last_status: number | null
  last_error: string | null
  source: { kind: string; id: string }
  created_at: string
}

export function Webhooks() {
  const may = useMay('editor')
  return (
    <PageOf title="Webhooks" about="Addresses of yours that are told what happened.">
      {may ? (
        <Tabs defaultValue="webhooks" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="webhooks">Webhooks</Tabs.Tab>
            <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="webhooks" pt="md">
            <List />
          </Tabs.Panel>
          <Tabs.Panel value="deliveries" pt="md">
            <Deliveries />
          </Tabs.Panel>
        </Tabs>
      ) : (
        <Empty title="Only editors and admins see webhooks">Their addresses may hold secrets.</Empty>
      )}
    </PageOf>
  )
}

function List() {
  const projectId = useProjectId()
  const admin = useMay('admin')
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['list', projectId, '/webhooks'] })
  const turn = useMutation({
    mutationFn: ({ id, active }: Webhook) =>
      project(projectId, 'PATCH', `/webhooks/${id}`, { body: { active: !active } }),
    onSuccess: changed
  })
  return (
    <Stack>
      {admin && <Create done={changed} />}
      {turn.error && <Failed error={turn.error} />}
      <ListOf
        label="Webhooks"
        pages={usePages<Webhook>('/webhooks')}
        keyOf={({ id }) => id}
        empty={<Empty title="No webhook">Create one, and it is told of outcomes in signed calls.</Empty>}
        columns={[
          { name: 'Address', show: ({ url }) => url },
          { name: 'Events', show: ({ events }) => events.join(', ') },
          { name: 'State', show: ({ active }) => <Badge variant="light">{active ? 'active' : 'paused'}</Badge> },
          {
            name: 'Change',
            show: (webhook) =>
              admin && (
                <Group gap="xs" wrap="nowrap">
                  <Button size="xs" variant="default" onClick={() => turn.mutate(webhook)}>
                    {webhook.active ? 'Pause' : 'Go on'}
                  </Button>
                  <Ask
                    label="Delete"
                    question="What waits for it is dropped."
                    act={() => project(projectId, 'DELETE', `/webhooks/${webhook.id}`).then(changed)}
                  />
                </Group>
              )
          }
        ]}
      />
    </Stack>
  )
}

function Create({ done }: { done: () => unknown }) {
  const projectId = useProjectId()
  const [opened, { open, close }] = useDisclosure()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<string[]>(['message.failed', 'trigger.completed'])
  const create = useMutation({
    mutationFn: () => project<{ secret: string }>(projectId, 'POST', '/webhooks', { body: { url, events } }),
    onSuccess: done
  })
  const leave = () => {
    close()
    create.reset()
  }
  return (
    <Group>
      <Button onClick={open}>Create a webhook</Button>
      <Modal opened={opened} onClose={leave} title="Create a webhook" centered>
        {create.data ? (
          <Stack>
            <Alert color="orange">This secret signs the calls. It is shown this once.</Alert>
            <CopyBlock text={create.data.secret} label="secret" />
            <Button onClick={leave}>I have it</Button>
          </Stack>
        ) : (
          <Stack>
            <TextInput
              label="Address"
              placeholder="https://example.com/tidings"
              value={url}
              onChange={({ currentTarget }) => setUrl(currentTarget.value)}
              data-autofocus
            />
            <MultiSelect label="Events" data={eventTypes} value={events} onChange={setEvents} />
            {create.error && <Failed error={create.error} />}
            <Button onClick={() => create.mutate()} loading={create.isPending}>
              Create
            </Button>
          </Stack>
        )}
      </Modal>
    </Group>
  )
}

const colors = { pending: 'cyan', delivered: 'teal', failed: 'red' }

function Deliveries() {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const [state, setState] = useState<string | null>(null)
  const replay = useMutation({
    mutationFn: (id: string) => project(projectId, 'POST', `/webhook-deliveries/${id}:replay`),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['list', projectId, '/webhook-deliveries'] })
  })
  return (
    <Stack>
      <Select
        label="State"
        placeholder="any"
        clearable
        w={200}
        value={state}
        onChange={setState}
        data={Object.keys(colors)}
      />
      {replay.error && <Failed error={replay.error} />}
      <ListOf
        label="Deliveries"
        pages={usePages<Delivery>('/webhook-deliveries', { state: state ?? undefined }, 3_000)}
        keyOf={({ id }) => id}
        empty={<Empty title="No calls yet">Calls to webhooks of the project and of agents’ tasks appear here.</Empty>}
        columns={[
          { name: 'When', show: ({ created_at }) => <When at={created_at} /> },
          { name: 'Address', show: ({ url }) => <Text lineClamp={1}>{url}</Text> },
          { name: 'About', show: ({ source }) => (source.kind === 'task' ? 'a task' : 'outcomes') },
          {
            name: 'State',
            show: ({ state: now, last_error, last_status }) => (
              <Badge color={colors[now]} variant="light" title={last_error ?? undefined}>
                {now} {last_status}
              </Badge>
            )
          },
          { name: 'Tries', show: ({ attempts }) => attempts },
          {
            name: 'Again',
            show: ({ id, state: now }) =>
              now !== 'pending' && (
                <Button size="xs" variant="default" onClick={() => replay.mutate(id)}>
                  Replay
                </Button>
              )
          }
        ]}
      />
    </Stack>
  )
}
