import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { fieldError } from '../../api/errors.ts'
import { instantOf, localTimeOf, localZone } from '../../parts/local-time.ts'
import { useUrlState } from '../../parts/url-state.ts'
import { MessageList, useMessages } from './message-list.tsx'

const statuses = [
  { value: 'SUCCEED', label: 'Accepted by gateway' },
  { value: 'FAILED', label: 'Failed or skipped' },
  { value: 'PENDING', label: 'Pending' }
]

/** A text filter kept in the URL. It applies a moment after typing stops. */
function TypedFilter({ name, label, error }: { name: string; label: string; error: string | undefined }) {
  const [value, setValue] = useUrlState(name)
  const [typed, setTyped] = useState(value)
  const soon = useDebouncedCallback(setValue, 250)
  return (
    <TextInput
      label={label}
      placeholder="Exact ID"
      error={error}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        soon(currentTarget.value)
      }}
    />
  )
}

/** A time in the time zone of the viewer, kept in the URL as an instant. */
function TimeFilter({ name, label, error }: { name: string; label: string; error: string | undefined }) {
  const [value, setValue] = useUrlState(name)
  return (
    <TextInput
      type="datetime-local"
      label={label}
      title={localZone}
      error={error}
      defaultValue={value && localTimeOf(value)}
      onChange={({ currentTarget }) => setValue(instantOf(currentTarget.value) ?? null)}
    />
  )
}

/** The message log with filters that are kept in the URL. Messages of a trigger need no filter for the campaign. */
export function FilteredMessages({ triggerId }: { triggerId?: string }) {
  const [user] = useUrlState('user')
  const [device] = useUrlState('device')
  const [campaign] = useUrlState('campaign')
  const [status, setStatus] = useUrlState('status')
  const [from] = useUrlState('from')
  const [to] = useUrlState('to')
  const of = { trigger_id: triggerId, project_user_id: user, device_id: device, campaign_id: campaign }
  const query = { ...of, status, from, to }
  const filtered = Boolean(user || device || campaign || status || from || to)
  const { error } = useMessages(query)
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} maw={900}>
        <TypedFilter name="user" label="User" error={fieldError(error, 'project_user_id')} />
        <TypedFilter name="device" label="Device" error={fieldError(error, 'device_id')} />
        {!triggerId && <TypedFilter name="campaign" label="Campaign" error={fieldError(error, 'campaign_id')} />}
        <Select
          label="Status"
          placeholder="Any"
          clearable
          value={status || null}
          error={fieldError(error, 'status')}
          onChange={setStatus}
          data={statuses}
        />
        <TimeFilter name="from" label="From" error={fieldError(error, 'from')} />
        <TimeFilter name="to" label="To" error={fieldError(error, 'to')} />
      </SimpleGrid>
      <MessageList query={query} filtered={filtered} ofTrigger={triggerId !== undefined} />
    </>
  )
}
