import { ActionIcon, Button, Group, NumberInput, Select, Text, TextInput } from '@mantine/core'
import type { AttributeCondition, EventCondition } from '../../../../../wire.ts'
import { RemoveIcon } from '../../../parts/icons.tsx'
import { ConditionRow } from './condition-row.tsx'

const newFilter: AttributeCondition = { attribute: 'event.amount', operator: 'greater_than', value: 0 }

/** A condition on events: which one, how often, since when, and with which properties. */
export function EventRow({
  condition,
  change
}: {
  condition: EventCondition
  change: (condition: EventCondition) => void
}) {
  const { within, ...always } = condition
  return (
    <Group gap="xs">
      <Text size="sm">did</Text>
      <TextInput
        aria-label="Event"
        size="xs"
        w={140}
        value={condition.event}
        onChange={({ currentTarget }) => change({ ...condition, event: currentTarget.value })}
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
      <EventFilters condition={condition} change={change} />
    </Group>
  )
}

const frequencies: { value: EventCondition['operator']; label: string }[] = [
  { value: 'at_least', label: 'at least' },
  { value: 'at_most', label: 'at most' },
  { value: 'exactly', label: 'exactly' }
]

/** Conditions on the properties of the event. */
function EventFilters({
  condition: { where = [], ...rest },
  change
}: {
  condition: EventCondition
  change: (condition: EventCondition) => void
}) {
  const set = (next: AttributeCondition[]) => change(next.length > 0 ? { ...rest, where: next } : rest)
  return (
    <>
      {where.map((filter, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a filter is identified by its position
        <Group key={index} gap="xs" w="100%">
          <Text size="sm">where</Text>
          <ConditionRow
            condition={filter}
            change={(next) => set(where.with(index, next))}
            attributes={['event.amount']}
          />
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label="Remove event filter"
            onClick={() => set(where.toSpliced(index, 1))}
          >
            <RemoveIcon />
          </ActionIcon>
        </Group>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={() => set([...where, newFilter])}>
        Add event filter
      </Button>
    </>
  )
}
