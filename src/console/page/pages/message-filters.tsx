import { Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import type { Asked } from '../api.ts'
import { useInUrl } from '../parts/in-url.tsx'
import { MessageList } from './message-list.tsx'

const statuses = [
  { value: 'SUCCEED', label: 'accepted by a gateway' },
  { value: 'FAILED', label: 'failed or skipped' },
  { value: 'PENDING', label: 'still being tried' }
]

/** The log of messages with its filters, which stay in the address. `query` narrows it from the start. */
export function FilteredMessages({ query = {}, refetchMs }: { query?: Asked['query']; refetchMs: number | false }) {
  const [user, setUser] = useInUrl('user')
  const [status, setStatus] = useInUrl('status')
  const [typed, setTyped] = useState(user)
  const soon = useDebouncedCallback(setUser, 250)
  return (
    <>
      <Group align="end">
        <TextInput
          label="User"
          placeholder="The whole id"
          value={typed}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value)
            soon(currentTarget.value)
          }}
        />
        <Select
          label="Status"
          placeholder="any"
          clearable
          value={status || null}
          onChange={setStatus}
          data={statuses}
        />
      </Group>
      <MessageList query={{ ...query, project_user_id: user, status }} refetchMs={refetchMs} />
    </>
  )
}
