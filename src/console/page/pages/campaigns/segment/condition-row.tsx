import {
  ActionIcon,
  Autocomplete,
  Button,
  NumberInput,
  Group as Row,
  Select,
  TagsInput,
  Text,
  TextInput
} from '@mantine/core'
import { useState } from 'react'
import { RemoveIcon } from '../../../parts/icons.tsx'
import {
  type Condition,
  firstOf,
  kindOf,
  listed,
  operators,
  referenceName,
  referenceTo,
  type Segment,
  type ValueKind,
  valueless
} from './segment.ts'

/** One condition: what it looks at, how, and with what. */
export function ConditionRow({
  leaf,
  change,
  attributes: known
}: {
  leaf: Condition
  change: (leaf: Condition) => void
  attributes: string[]
}) {
  const setOperator = (operator: string) => {
    const { value, ...rest } = leaf
    if (valueless(operator)) return change({ ...rest, operator })
    const single = Array.isArray(value) ? (value[0] ?? '') : (value ?? '')
    const next = operator === 'within_last' ? '7d' : listed(operator) ? [single].filter((each) => each !== '') : single
    change({ ...rest, operator, value: next })
  }
  return (
    <>
      <Autocomplete
        aria-label="Attribute"
        w={140}
        size="xs"
        data={known}
        value={leaf.attribute}
        onChange={(attribute) => change({ ...leaf, attribute })}
      />
      <Select
        aria-label="Operator"
        w={140}
        size="xs"
        allowDeselect={false}
        value={leaf.operator}
        onChange={(operator) => operator && setOperator(operator)}
        data={operators.map(([value, label]) => ({ value, label }))}
      />
      {!valueless(leaf.operator) && <ValueField leaf={leaf} set={(value) => change({ ...leaf, value })} />}
    </>
  )
}

function ValueField({ leaf, set }: { leaf: Condition; set: (value: unknown) => void }) {
  if (listed(leaf.operator)) return <ListField values={Array.isArray(leaf.value) ? leaf.value : []} set={set} />
  const kind = kindOf(leaf.value)
  return (
    <Row gap={4} wrap="nowrap">
      <Select
        aria-label="Value type"
        w={135}
        size="xs"
        allowDeselect={false}
        value={kind}
        data={Object.keys(firstOf)}
        onChange={(next) => next && set(firstOf[next as ValueKind])}
      />
      {kind === 'text' && (
        <TextInput
          aria-label="Value"
          size="xs"
          w={130}
          value={String(leaf.value ?? '')}
          onChange={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      {kind === 'number' && (
        <NumberInput
          aria-label="Value"
          size="xs"
          w={120}
          value={Number(leaf.value)}
          onChange={(value) => set(Number(value))}
        />
      )}
      {kind === 'true/false' && (
        <Select
          aria-label="Value"
          size="xs"
          w={90}
          allowDeselect={false}
          data={['true', 'false']}
          value={String(leaf.value)}
          onChange={(value) => set(value === 'true')}
        />
      )}
      {kind === 'trigger property' && (
        <TextInput
          aria-label="Trigger property name"
          size="xs"
          value={referenceName(leaf.value)}
          onChange={({ currentTarget }) => set(referenceTo(currentTarget.value))}
        />
      )}
    </Row>
  )
}

function ListField({ values, set }: { values: unknown[]; set: (values: unknown[]) => void }) {
  const [numbers, setNumbers] = useState(() => values.length > 0 && values.every((value) => typeof value === 'number'))
  const read = (text: string): unknown =>
    numbers && text.trim() !== '' && !Number.isNaN(Number(text)) ? Number(text) : text
  const known = (text: string) => values.find((value) => String(value) === text)
  return (
    <Row gap={4} wrap="nowrap">
      <Select
        aria-label="Value type"
        w={110}
        size="xs"
        allowDeselect={false}
        value={numbers ? 'numbers' : 'text'}
        data={['text', 'numbers']}
        onChange={(kind) => {
          setNumbers(kind === 'numbers')
          set(
            values.map((value) => (kind === 'numbers' && !Number.isNaN(Number(value)) ? Number(value) : String(value)))
          )
        }}
      />
      <TagsInput
        aria-label="Values"
        size="xs"
        w={220}
        value={values.map(String)}
        onChange={(texts) => set(texts.map((text) => known(text) ?? read(text)))}
        acceptValueOnBlur
      />
    </Row>
  )
}

/** What somebody did, how often, since when, and which of it counts. */
export function EventRow({
  condition,
  change
}: {
  condition: Extract<Segment, { event: string }>
  change: (segment: Segment) => void
}) {
  const { within: _, ...always } = condition
  const where = condition.where ?? []
  const narrow = (next: Condition[]) => {
    const { where: _where, ...rest } = condition
    change(next.length > 0 ? { ...rest, where: next } : rest)
  }
  return (
    <Row gap="xs">
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
        data={[
          { value: 'at_least', label: 'at least' },
          { value: 'at_most', label: 'at most' },
          { value: 'exactly', label: 'exactly' }
        ]}
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
        w={70}
        value={condition.within ?? ''}
        onChange={({ currentTarget }) =>
          change(currentTarget.value ? { ...condition, within: currentTarget.value } : always)
        }
      />
      {where.map((leaf, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no name but its place
        <Row key={index} gap="xs" w="100%">
          <Text size="sm">where</Text>
          <ConditionRow leaf={leaf} change={(next) => narrow(where.with(index, next))} attributes={['event.amount']} />
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label="Remove event filter"
            onClick={() => narrow(where.toSpliced(index, 1))}
          >
            <RemoveIcon />
          </ActionIcon>
        </Row>
      ))}
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => narrow([...where, { attribute: 'event.amount', operator: 'greater_than', value: 0 }])}
      >
        Add event filter
      </Button>
    </Row>
  )
}
