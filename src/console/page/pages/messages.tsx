import { Group, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { PageOf } from '../parts/page.tsx'
import { MessageList } from './message-list.tsx'

export function Messages() {
  const [user, setUser] = useState('')
  const [status, setStatus] = useState<string | null>(null)
  const [asked] = useDebouncedValue({ project_user_id: user, status: status ?? undefined }, 250)
  return (
    <PageOf title="Messages" about="What was sent to whom, and what became of it. A line for each device.">
      <Group align="end">
        <TextInput
          label="User"
          placeholder="The whole id"
          value={user}
          onChange={({ currentTarget }) => setUser(currentTarget.value)}
        />
        <Select
          label="Status"
          placeholder="any"
          clearable
          value={status}
          onChange={setStatus}
          data={[
            { value: 'DELIVERY_RESULT_STATUS_SUCCEED', label: 'accepted by a gateway' },
            { value: 'DELIVERY_RESULT_STATUS_FAILED', label: 'failed or skipped' },
            { value: 'DELIVERY_RESULT_STATUS_PENDING', label: 'still being tried' }
          ]}
        />
      </Group>
      <MessageList query={asked} refetchMs={3_000} />
    </PageOf>
  )
}
