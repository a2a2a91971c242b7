import { Group, NumberInput, Select, Text, TextInput } from '@mantine/core'
import type { EventCondition } from '../../../../../wire.ts'
import { EventFilters } from './event-filters.tsx'
import { EventName, EventNameHint } from './event-name.tsx'

/** A condition on events: which one, how often, since when, and with which properties. */
export function EventRow({
  condition,
  negated,
  change: put,
  readOnly
}: {
  condition: EventCondition
  negated: boolean
  change: (condition: EventCondition, negated: boolean) => void
  readOnly: boolean
}) {
  const change = (next: EventCondition) => put(next, negated)
  const { within, ...always } = condition
  const { where, ...without } = condition
  return (
    <Group gap="xs">
      <Select
        aria-label="Did or did not"
        size="xs"
        w={90}
        allowDeselect={false}
        value={negated ? 'did not' : 'did'}
        onChange={(chosen) => put(condition, chosen === 'did not')}
        data={['did', 'did not']}
      />
      <EventName
        aria-label="Event"
        size="xs"
        w={140}
        value={condition.event}
        onChange={(event) => change({ ...condition, event })}
      />
      <Select
        aria-label="Frequency"
        size="xs"
        w={110}
        allowDeselect={false}
        value={condition.operator}
        onChange={(operator) => operator && change({ ...condition, operator })}
        data={frequencies}
      />
      <NumberInput
        aria-label="Count"
        size="xs"
        w={70}
        min={0}
        value={condition.count}
        onChange={(count) => change({ ...condition, count: Number(count) })}
      />
      <Text size="sm">times in the last</Text>
      <TextInput
        aria-label="Time window, for example 30d; blank for all time"
        placeholder="all time"
        size="xs"
        w={80}
        value={within ?? ''}
        onChange={({ currentTarget: { value } }) => change(value ? { ...always, within: value } : always)}
      />
      {!readOnly && <EventNameHint name={condition.event} change={(event) => change({ ...condition, event })} />}
      <EventFilters
        event={condition.event}
        where={where}
        set={(next) => change(next ? { ...condition, where: next } : without)}
      />
    </Group>
  )
}

const frequencies: { value: EventCondition['operator']; label: string }[] = [
  { value: 'at_least', label: 'at least' },
  { value: 'at_most', label: 'at most' },
  { value: 'exactly', label: 'exactly' }
]
