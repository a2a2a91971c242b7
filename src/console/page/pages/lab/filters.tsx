import { Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { useUrlState } from '../../parts/url-state.ts'
import { platformNames } from './add-device.tsx'
import type { PhoneFilters } from './phones.ts'

const states = [
  { value: 'reachable', label: 'Reachable' },
  { value: 'offline', label: 'Offline' },
  { value: 'denied', label: 'Push denied' },
  { value: 'uninstalled', label: 'App uninstalled' },
  { value: 'unreachable', label: 'No working token' }
]

/** Filters of the phones. They are kept in the address, so that a link or a reload keeps them. */
export function usePhoneFilters() {
  const [search, setSearch] = useUrlState('search')
  const [platform, setPlatform] = useUrlState('platform')
  const [state, setState] = useUrlState('state')
  const filters: PhoneFilters = { search, platform, state }
  return { filters, setSearch, setPlatform, setState, filtered: Boolean(search || platform || state) }
}

export function Filters({ filters, setSearch, setPlatform, setState }: ReturnType<typeof usePhoneFilters>) {
  const [typed, setTyped] = useState(filters.search)
  const soon = useDebouncedCallback(setSearch, 250)
  return (
    <Group gap="xs" role="search" aria-label="Devices">
      <TextInput
        aria-label="Search devices"
        placeholder="Search by user or device ID"
        size="xs"
        w={240}
        maxLength={512}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          soon(currentTarget.value)
        }}
      />
      <Select
        aria-label="Platform"
        placeholder="Any platform"
        size="xs"
        w={150}
        clearable
        clearButtonProps={{ 'aria-label': 'Any platform' }}
        value={filters.platform || null}
        onChange={setPlatform}
        data={Object.entries(platformNames).map(([value, label]) => ({ value, label }))}
      />
      <Select
        aria-label="State"
        placeholder="Any state"
        size="xs"
        w={160}
        clearable
        clearButtonProps={{ 'aria-label': 'Any state' }}
        value={filters.state || null}
        onChange={setState}
        data={states}
      />
    </Group>
  )
}
