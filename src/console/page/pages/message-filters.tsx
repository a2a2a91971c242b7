import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { useInUrl } from '../parts/in-url.tsx'
import { MessageList } from './message-list.tsx'

const statuses = [
  { value: 'SUCCEED', label: 'accepted by a gateway' },
  { value: 'FAILED', label: 'failed or skipped' },
  { value: 'PENDING', label: 'still being tried' }
]

/** A text that narrows the list and stays in the address, taken over a moment after it was typed. */
function TypedFilter({ name, label }: { name: string; label: string }) {
  const [value, setValue] = useInUrl(name)
  const [typed, setTyped] = useState(value)
  const soon = useDebouncedCallback(setValue, 250)
  return (
    <TextInput
      label={label}
      placeholder="The whole id"
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        soon(currentTarget.value)
      }}
    />
  )
}

/** The log of messages with its filters, which stay in the address. Those of one trigger have one campaign. */
export function FilteredMessages({ triggerId, refetchMs }: { triggerId?: string; refetchMs: number | false }) {
  const [user] = useInUrl('user')
  const [device] = useInUrl('device')
  const [campaign] = useInUrl('campaign')
  const [status, setStatus] = useInUrl('status')
  const query = { trigger_id: triggerId, project_user_id: user, device_id: device, campaign_id: campaign, status }
  const narrowed = Boolean(user || device || campaign || status)
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} maw={900}>
        <TypedFilter name="user" label="User" />
        <TypedFilter name="device" label="Device" />
        {!triggerId && <TypedFilter name="campaign" label="Campaign" />}
        <Select
          label="Status"
          placeholder="any"
          clearable
          value={status || null}
          onChange={setStatus}
          data={statuses}
        />
      </SimpleGrid>
      <MessageList query={query} refetchMs={refetchMs} narrowed={narrowed} ofTrigger={triggerId !== undefined} />
    </>
  )
}
