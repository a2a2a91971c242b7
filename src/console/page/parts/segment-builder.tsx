import {
  ActionIcon,
  Autocomplete,
  Button,
  Checkbox,
  NumberInput,
  Paper,
  Group as Row,
  SegmentedControl,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput
} from '@mantine/core'
import {
  asGroup,
  asSegment,
  attributes,
  firstOf,
  type Group,
  kindOf,
  type Leaf,
  listed,
  operators,
  referenceName,
  referenceTo,
  type Segment,
  type ValueKind,
  valueless
} from './segment.ts'

const newCondition: Segment = { attribute: 'user.plan', operator: 'equals', value: 'premium' }
const newEvent: Segment = { event: 'purchase', operator: 'at_least', count: 1, within: '30d' }

/** Rows and groups of rows; what it shows is always the segment that would be saved. */
export function SegmentBuilder({
  segment,
  change,
  readOnly = false,
  depth = 0
}: {
  segment: Segment | undefined
  change: (segment: Segment) => void
  readOnly?: boolean
  depth?: number
}) {
  const group = asGroup(segment)
  const set = (parts: Segment[], mode: Group['mode'] = group.mode) => change(asSegment({ mode, parts }))
  const replace = (index: number, part: Segment) => set(group.parts.with(index, part))
  return (
    <Paper
      withBorder={depth > 0}
      p={depth > 0 ? 'sm' : 0}
      component="fieldset"
      disabled={readOnly}
      bd={depth > 0 ? undefined : 'none'}
      m={0}
    >
      <Stack gap="xs">
        <Row gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="How the conditions of this group combine"
            value={group.mode}
            disabled={readOnly}
            onChange={(mode) => set(group.parts, mode as Group['mode'])}
            data={[
              { value: 'all', label: 'all of these' },
              { value: 'any', label: 'any of these' }
            ]}
          />
          {group.parts.length === 0 && (
            <Text size="sm" c="dimmed">
              {group.mode === 'all' ? 'No condition: everyone.' : 'Any of nothing: nobody.'}
            </Text>
          )}
        </Row>
        {group.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no name but its place
          <Row key={index} gap="xs" align="start" wrap="nowrap">
            <PartOf part={part} change={(next) => replace(index, next)} readOnly={readOnly} depth={depth} />
            {!readOnly && (
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label="Remove this condition"
                onClick={() => set(group.parts.toSpliced(index, 1))}
              >
                ✕
              </ActionIcon>
            )}
          </Row>
        ))}
        {!readOnly && (
          <Row gap="xs">
            <Button size="compact-xs" variant="light" onClick={() => set([...group.parts, newCondition])}>
              Add a condition
            </Button>
            <Button size="compact-xs" variant="light" onClick={() => set([...group.parts, newEvent])}>
              Add an event
            </Button>
            {depth < 5 && (
              <Button size="compact-xs" variant="light" onClick={() => set([...group.parts, { any: [newCondition] }])}>
                Add a group
              </Button>
            )}
          </Row>
        )}
      </Stack>
    </Paper>
  )
}

function PartOf({
  part,
  change,
  readOnly,
  depth
}: {
  part: Segment
  change: (part: Segment) => void
  readOnly: boolean
  depth: number
}) {
  const inner = 'not' in part ? part.not : part
  const put = (next: Segment) => change('not' in part ? { not: next } : next)
  return (
    <Row gap="xs" align="center" style={{ flex: 1 }}>
      <Checkbox
        label="not"
        checked={'not' in part}
        onChange={({ currentTarget }) => change(currentTarget.checked ? { not: inner } : inner)}
      />
      {'attribute' in inner ? (
        <LeafRow leaf={inner} change={put} attributes={attributes} />
      ) : 'event' in inner ? (
        <EventRow condition={inner} change={put} />
      ) : 'not' in inner ? (
        <Text size="sm">not (not …): edit it as JSON</Text>
      ) : (
        <SegmentBuilder segment={inner} change={put} readOnly={readOnly} depth={depth + 1} />
      )}
    </Row>
  )
}

function LeafRow({
  leaf,
  change,
  attributes: known
}: {
  leaf: Leaf
  change: (leaf: Leaf) => void
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
    <Row gap="xs">
      <Autocomplete
        aria-label="Attribute"
        w={180}
        size="xs"
        data={known}
        value={leaf.attribute}
        onChange={(attribute) => change({ ...leaf, attribute })}
      />
      <Select
        aria-label="Operator"
        w={170}
        size="xs"
        allowDeselect={false}
        value={leaf.operator}
        onChange={(operator) => operator && setOperator(operator)}
        data={operators.map(([value, label]) => ({ value, label }))}
      />
      {!valueless(leaf.operator) && <ValueField leaf={leaf} set={(value) => change({ ...leaf, value })} />}
    </Row>
  )
}

function ValueField({ leaf, set }: { leaf: Leaf; set: (value: unknown) => void }) {
  if (listed(leaf.operator)) {
    const values = Array.isArray(leaf.value) ? leaf.value : []
    return (
      <TagsInput
        aria-label="Values"
        size="xs"
        w={240}
        value={values.map(String)}
        onChange={(texts) => set(texts.map((text) => values.find((value) => String(value) === text) ?? text))}
      />
    )
  }
  const kind = kindOf(leaf.value)
  return (
    <Row gap={4} wrap="nowrap">
      <Select
        aria-label="Kind of value"
        w={130}
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
      {kind === 'true or false' && (
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
      {kind === 'from the trigger' && (
        <TextInput
          aria-label="Name of the trigger property"
          size="xs"
          value={referenceName(leaf.value)}
          onChange={({ currentTarget }) => set(referenceTo(currentTarget.value))}
        />
      )}
    </Row>
  )
}

function EventRow({
  condition,
  change
}: {
  condition: Extract<Segment, { event: string }>
  change: (segment: Segment) => void
}) {
  const { within: _, ...always } = condition
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
        aria-label="How often"
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
        aria-label="Times"
        size="xs"
        w={70}
        min={0}
        value={condition.count}
        onChange={(count) => change({ ...condition, count: Number(count) })}
      />
      <Text size="sm">times within</Text>
      <TextInput
        aria-label="Within, such as 30d, or empty for ever"
        placeholder="ever"
        size="xs"
        w={70}
        value={condition.within ?? ''}
        onChange={({ currentTarget }) =>
          change(currentTarget.value ? { ...condition, within: currentTarget.value } : always)
        }
      />
    </Row>
  )
}
