import { Group, NumberInput, Select, Switch, Text, TextInput, Title } from '@mantine/core'
import type { Campaign } from './campaigns.tsx'

/** How long it is wanted, how fast, how often, and when not. */
export function Limits({
  wish,
  change,
  may,
  problem
}: {
  wish: Campaign
  change: (more: Partial<Campaign>) => void
  may: boolean
  problem: (path: string) => string | undefined
}) {
  const number = (name: 'ttl_seconds' | 'throttle_per_second', label: string, about: string) => (
    <NumberInput
      label={label}
      description={about}
      value={wish[name] ?? ''}
      error={problem(name)}
      readOnly={!may}
      min={0}
      onChange={(value) => change({ [name]: value === '' ? undefined : Number(value) })}
    />
  )
  const cap = wish.frequency_cap
  const quiet = wish.quiet_hours
  return (
    <>
      <Title order={2} size="h4">
        Limits
      </Title>
      <Group grow align="start">
        {number('ttl_seconds', 'Time to live (seconds)', 'Default: 4 weeks')}
        {number('throttle_per_second', 'Messages per second', 'Blank for no limit')}
      </Group>
      <Group align="start">
        <Switch
          mt={8}
          label="Limit to"
          checked={cap !== undefined}
          disabled={!may}
          onChange={({ currentTarget }) =>
            change({ frequency_cap: currentTarget.checked ? { count: 1, within: '24h' } : undefined })
          }
        />
        {cap && (
          <>
            <NumberInput
              aria-label="Messages per user"
              w={110}
              min={1}
              value={cap.count}
              error={problem('frequency_cap.count')}
              readOnly={!may}
              onChange={(count) => change({ frequency_cap: { ...cap, count: Number(count) } })}
            />
            <Text mt={6}>per user every</Text>
            <TextInput
              aria-label="Period"
              w={140}
              value={cap.within}
              error={problem('frequency_cap.within')}
              readOnly={!may}
              onChange={({ currentTarget }) => change({ frequency_cap: { ...cap, within: currentTarget.value } })}
            />
          </>
        )}
      </Group>
      <Group align="start">
        <Switch
          mt={8}
          label="Quiet hours"
          checked={quiet !== undefined}
          disabled={!may}
          onChange={({ currentTarget }) =>
            change({
              quiet_hours: currentTarget.checked
                ? { from: '22:00', to: '08:00', timezone: 'user', action: 'hold' }
                : undefined
            })
          }
        />
        {quiet && (
          <>
            <TextInput
              aria-label="From"
              w={80}
              value={quiet.from}
              error={problem('quiet_hours.from')}
              readOnly={!may}
              onChange={({ currentTarget }) => change({ quiet_hours: { ...quiet, from: currentTarget.value } })}
            />
            <Text mt={6}>to</Text>
            <TextInput
              aria-label="To"
              w={80}
              value={quiet.to}
              error={problem('quiet_hours.to')}
              readOnly={!may}
              onChange={({ currentTarget }) => change({ quiet_hours: { ...quiet, to: currentTarget.value } })}
            />
            <TextInput
              aria-label="Time zone: user, device, or a name like Europe/Berlin"
              w={150}
              value={quiet.timezone}
              error={problem('quiet_hours.timezone')}
              readOnly={!may}
              onChange={({ currentTarget }) => change({ quiet_hours: { ...quiet, timezone: currentTarget.value } })}
            />
            <Select
              aria-label="During quiet hours"
              w={240}
              allowDeselect={false}
              value={quiet.action}
              error={problem('quiet_hours.action')}
              disabled={!may}
              data={[
                { value: 'hold', label: 'Delay until quiet hours end' },
                { value: 'skip', label: 'Don’t send' }
              ]}
              onChange={(action) => action && change({ quiet_hours: { ...quiet, action: action as 'hold' | 'skip' } })}
            />
          </>
        )}
      </Group>
    </>
  )
}
