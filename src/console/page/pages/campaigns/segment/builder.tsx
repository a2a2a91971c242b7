import { ActionIcon, Button, Checkbox, Paper, Group as Row, SegmentedControl, Stack, Text } from '@mantine/core'
import { RemoveIcon } from '../../../parts/icons.tsx'
import { ConditionRow, EventRow } from './condition-row.tsx'
import { asGroup, asSegment, attributes, type Group, type Segment } from './segment.ts'

const newCondition: Segment = { attribute: 'user.plan', operator: 'equals', value: 'premium' }
const newEvent: Segment = { event: 'purchase', operator: 'at_least', count: 1, within: '30d' }

/** `only`: about this place itself and not what is inside it. */
export type Problem = (path: string, only?: boolean) => string | undefined

/** Rows and groups of rows; what it shows is always the segment that would be saved. */
export function SegmentBuilder({
  segment,
  change,
  readOnly = false,
  problem,
  path = 'segment',
  depth = 0
}: {
  segment: Segment | undefined
  change: (segment: Segment) => void
  readOnly?: boolean
  /** What the service says about a place of the segment and what is inside it. */
  problem: Problem
  path?: string
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
      // A fieldset is as wide as its widest row unless it is told otherwise.
      miw={0}
    >
      <Stack gap="xs">
        <Row gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Match"
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
              {group.mode === 'all' ? 'No conditions: everyone.' : 'Empty “any” group: nobody.'}
            </Text>
          )}
        </Row>
        {group.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no name but its place
          <Row key={index} gap="xs" align="start" wrap="nowrap">
            <PartOf
              part={part}
              change={(next) => replace(index, next)}
              readOnly={readOnly}
              problem={problem}
              path={`${path}.${group.mode}[${index}]`}
              depth={depth}
            />
            {!readOnly && (
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label="Remove condition"
                onClick={() => set(group.parts.toSpliced(index, 1))}
              >
                <RemoveIcon />
              </ActionIcon>
            )}
          </Row>
        ))}
        <Wrong words={problem(path, true) ?? problem(`${path}.${group.mode}`, true)} />
        {!readOnly && (
          <Row gap="xs">
            <Button size="compact-xs" variant="light" onClick={() => set([...group.parts, newCondition])}>
              Add condition
            </Button>
            <Button size="compact-xs" variant="light" onClick={() => set([...group.parts, newEvent])}>
              Add event
            </Button>
            {depth < 5 && (
              <Button size="compact-xs" variant="light" onClick={() => set([...group.parts, { any: [newCondition] }])}>
                Add group
              </Button>
            )}
          </Row>
        )}
      </Stack>
    </Paper>
  )
}

/** Beside what it is about. */
const Wrong = ({ words }: { words: string | undefined }) =>
  words ? (
    <Text c="var(--mantine-color-error)" size="sm" role="alert" w="100%">
      {words}
    </Text>
  ) : null

function PartOf({
  part,
  change,
  readOnly,
  problem,
  path,
  depth
}: {
  part: Segment
  change: (part: Segment) => void
  readOnly: boolean
  problem: Problem
  path: string
  depth: number
}) {
  const negated = 'not' in part
  const inner = negated ? part.not : part
  const put = (next: Segment) => change(negated ? { not: next } : next)
  const place = negated ? `${path}.not` : path
  const nested = { readOnly, problem, path: place }
  return (
    <Row gap="xs" align="center" style={{ flex: 1, minWidth: 0 }}>
      <Checkbox
        label="not"
        checked={negated}
        onChange={({ currentTarget }) => change(currentTarget.checked ? { not: inner } : inner)}
      />
      {'attribute' in inner ? (
        <ConditionRow leaf={inner} change={put} attributes={attributes} />
      ) : 'event' in inner ? (
        <EventRow condition={inner} change={put} />
      ) : 'not' in inner ? (
        <PartOf part={inner} change={put} depth={depth} {...nested} />
      ) : (
        <SegmentBuilder segment={inner} change={put} depth={depth + 1} {...nested} />
      )}
      {('attribute' in inner || 'event' in inner) && <Wrong words={problem(place)} />}
    </Row>
  )
}
