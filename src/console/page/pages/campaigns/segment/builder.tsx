import { ActionIcon, Button, Paper, Group as Row, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Segment } from '../../../../../wire.ts'
import { RemoveIcon } from '../../../parts/icons.tsx'
import { useProperties } from './catalog.ts'
import { ConditionRow } from './condition-row.tsx'
import { ErrorText } from './error-text.tsx'
import { EventRow } from './event-row.tsx'
import { RefRow, useSavedSegments } from './ref-row.tsx'
import { asGroup, asSegment, type FindError, type Group } from './segment.ts'
import { SegmentSize } from './segment-size.tsx'

const newEvent: Segment = { event: 'purchase', operator: 'at_least', count: 1, within: '30d' }
const usual = { attribute: 'user.plan', operator: 'equals', value: 'premium' } as const

/** A first condition: the property plan if there is one, as in the docs, or the most frequent property. */
function useNewCondition(): Segment {
  const { items } = useProperties('user')
  const [first] = items.filter(({ types }) => types.some((type) => type !== 'null'))
  if (!first || items.some(({ name }) => name === 'plan')) return usual
  return {
    attribute: `user.${first.name}`,
    operator: 'equals',
    value: first.examples.find((one) => one !== null) ?? ''
  }
}

interface Props {
  segment: Segment | undefined
  change: (segment: Segment) => void
  readOnly?: boolean
  findError: FindError
  path?: string
  depth?: number
  /** Whether a group inside another one is negated: none of its conditions may match. */
  negation?: { negated: boolean; set: (group: Group, negated: boolean) => void } | undefined
}

/** Conditions and groups of conditions. It always shows exactly the segment that would be saved. */
export function SegmentBuilder({
  segment,
  change,
  readOnly = false,
  findError,
  path = 'segment',
  depth = 0,
  negation
}: Props) {
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
        <MatchControl group={group} readOnly={readOnly} negation={negation} set={(mode) => set(group.parts, mode)} />
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
        {depth === 0 && <SegmentSize segment={segment} />}
      </Stack>
    </Paper>
  )
}

const modes = {
  all: { value: 'all', label: 'all of these' },
  any: { value: 'any', label: 'any of these' },
  none: { value: 'none', label: 'none of these' },
  notAll: { value: 'notAll', label: 'not all of these' }
} as const

function MatchControl({
  group,
  readOnly,
  negation,
  set
}: {
  group: Group
  readOnly: boolean
  negation: Props['negation']
  set: (mode: Group['mode']) => void
}) {
  const { mode, parts } = group
  const shown = negation?.negated ? (mode === 'any' ? 'none' : 'notAll') : mode
  const choose = (next: keyof typeof modes) => {
    if (!negation) return set(next === 'any' ? 'any' : 'all')
    negation.set(
      { mode: next === 'any' || next === 'none' ? 'any' : 'all', parts },
      next === 'none' || next === 'notAll'
    )
  }
  return (
    <Row gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Match"
        value={shown}
        disabled={readOnly}
        onChange={choose}
        data={[
          modes.all,
          modes.any,
          ...(negation ? [modes.none] : []),
          // Only where a file says so: "any" with opposite conditions is easier to read.
          ...(shown === 'notAll' ? [modes.notAll] : [])
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

function AddButtons({ add, withGroup }: { add: (part: Segment) => void; withGroup: boolean }) {
  const newCondition = useNewCondition()
  return (
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
}

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

interface PartProps extends Required<Pick<Props, 'change' | 'readOnly' | 'findError' | 'path' | 'depth'>> {
  part: Segment
}

/** One part of a group: a condition, an event, a saved segment or another group. A `not` shows in its words. */
function PartOf({ part, change, readOnly, findError, path, depth }: PartProps) {
  const negated = 'not' in part
  const inner = negated ? part.not : part
  const put = (next: Segment, not = negated) => change(not ? { not: next } : next)
  const place = negated ? `${path}.not` : path
  const nested = { readOnly, findError, path: place }
  return (
    <Row gap="xs" align="center" style={{ flex: 1, minWidth: 0 }}>
      {'attribute' in inner ? (
        <ConditionRow condition={inner} negated={negated} change={put} readOnly={readOnly} />
      ) : 'ref' in inner ? (
        <RefRow id={inner.ref} negated={negated} change={(ref, not) => put({ ref }, not)} />
      ) : 'event' in inner ? (
        <EventRow condition={inner} negated={negated} change={put} readOnly={readOnly} />
      ) : 'not' in inner ? (
        <>
          <Text size="sm">not</Text>
          <PartOf part={inner} change={put} depth={depth} {...nested} />
        </>
      ) : (
        <SegmentBuilder
          segment={inner}
          change={put}
          depth={depth + 1}
          negation={{ negated, set: (group, not) => put(asSegment(group), not) }}
          {...nested}
        />
      )}
      {('attribute' in inner || 'event' in inner || 'ref' in inner) && <ErrorText text={findError(place)} />}
    </Row>
  )
}
