import { ActionIcon, Button, Checkbox, Paper, Group as Row, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Segment } from '../../../../../wire.ts'
import { RemoveIcon } from '../../../parts/icons.tsx'
import { ConditionRow } from './condition-row.tsx'
import { ErrorText } from './error-text.tsx'
import { EventRow } from './event-row.tsx'
import { RefRow, useSavedSegments } from './ref-row.tsx'
import { asGroup, asSegment, attributes, type FindError, type Group } from './segment.ts'

const newCondition: Segment = { attribute: 'user.plan', operator: 'equals', value: 'premium' }
const newEvent: Segment = { event: 'purchase', operator: 'at_least', count: 1, within: '30d' }

interface Props {
  segment: Segment | undefined
  change: (segment: Segment) => void
  readOnly?: boolean
  findError: FindError
  path?: string
  depth?: number
}

/** Conditions and groups of conditions. It always shows exactly the segment that would be saved. */
export function SegmentBuilder({ segment, change, readOnly = false, findError, path = 'segment', depth = 0 }: Props) {
  const group = asGroup(segment)
  const set = (parts: Segment[], mode: Group['mode'] = group.mode) => change(asSegment({ mode, parts }))
  return (
    <Paper
      withBorder={depth > 0}
      p={depth > 0 ? 'sm' : 0}
      component="fieldset"
      disabled={readOnly}
      bd={depth > 0 ? undefined : 'none'}
      m={0}
      // Without `miw`, a fieldset is as wide as its widest row.
      miw={0}
    >
      <Stack gap="xs">
        <MatchControl group={group} readOnly={readOnly} set={(mode) => set(group.parts, mode)} />
        {group.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a condition is identified by its position
          <Row key={index} gap="xs" align="start" wrap="nowrap">
            <PartOf
              part={part}
              change={(next) => set(group.parts.with(index, next))}
              readOnly={readOnly}
              findError={findError}
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
        <ErrorText text={findError(path, true) ?? findError(`${path}.${group.mode}`, true)} />
        {!readOnly && <AddButtons add={(part) => set([...group.parts, part])} withGroup={depth < 5} />}
      </Stack>
    </Paper>
  )
}

function MatchControl({
  group: { mode, parts },
  readOnly,
  set
}: {
  group: Group
  readOnly: boolean
  set: (mode: Group['mode']) => void
}) {
  return (
    <Row gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Match"
        value={mode}
        disabled={readOnly}
        onChange={set}
        data={[
          { value: 'all', label: 'all of these' },
          { value: 'any', label: 'any of these' }
        ]}
      />
      {parts.length === 0 && (
        <Text size="sm" c="dimmed">
          {mode === 'all' ? 'No conditions: everyone.' : 'Empty “any” group: nobody.'}
        </Text>
      )}
    </Row>
  )
}

const AddButtons = ({ add, withGroup }: { add: (part: Segment) => void; withGroup: boolean }) => (
  <Row gap="xs">
    <Button size="compact-xs" variant="light" onClick={() => add(newCondition)}>
      Add condition
    </Button>
    <Button size="compact-xs" variant="light" onClick={() => add(newEvent)}>
      Add event
    </Button>
    <AddSaved add={add} />
    {withGroup && (
      <Button size="compact-xs" variant="light" onClick={() => add({ any: [newCondition] })}>
        Add group
      </Button>
    )}
  </Row>
)

/** Offers saved segments only where there are some. */
function AddSaved({ add }: { add: (part: Segment) => void }) {
  const [first] = useSavedSegments()
  if (!first) return null
  return (
    <Button size="compact-xs" variant="light" onClick={() => add({ ref: first.segment_id })}>
      Add saved segment
    </Button>
  )
}

interface PartProps extends Required<Omit<Props, 'segment'>> {
  part: Segment
}

/** One part of a group: a condition, an event or another group, each possibly negated. */
function PartOf({ part, change, readOnly, findError, path, depth }: PartProps) {
  const negated = 'not' in part
  const inner = negated ? part.not : part
  const put = (next: Segment) => change(negated ? { not: next } : next)
  const place = negated ? `${path}.not` : path
  const nested = { readOnly, findError, path: place }
  return (
    <Row gap="xs" align="center" style={{ flex: 1, minWidth: 0 }}>
      <Checkbox
        label="not"
        checked={negated}
        onChange={({ currentTarget }) => change(currentTarget.checked ? { not: inner } : inner)}
      />
      {'attribute' in inner ? (
        <ConditionRow condition={inner} change={put} attributes={attributes} />
      ) : 'ref' in inner ? (
        <RefRow id={inner.ref} change={(ref) => put({ ref })} />
      ) : 'event' in inner ? (
        <EventRow condition={inner} change={put} />
      ) : 'not' in inner ? (
        <PartOf part={inner} change={put} depth={depth} {...nested} />
      ) : (
        <SegmentBuilder segment={inner} change={put} depth={depth + 1} {...nested} />
      )}
      {('attribute' in inner || 'event' in inner || 'ref' in inner) && <ErrorText text={findError(place)} />}
    </Row>
  )
}
