import { ActionIcon, Button, Group, Text } from '@mantine/core'
import type { AttributeCondition } from '../../../../../wire.ts'
import { RemoveIcon } from '../../../parts/icons.tsx'
import { ConditionRow } from './condition-row.tsx'
import { ErrorText } from './error-text.tsx'
import type { FindError } from './segment.ts'

const newFilter: AttributeCondition = { attribute: 'event.amount', operator: 'greater_than', value: 0 }

/** Conditions on the properties of an event. */
export function EventFilters({
  event,
  where = [],
  set,
  findError,
  path
}: {
  /** The name of the event; suggestions come from events of that name. */
  event: string
  where: AttributeCondition[] | undefined
  set: (where: AttributeCondition[] | undefined) => void
  findError?: FindError
  path?: string
}) {
  const put = (next: AttributeCondition[]) => set(next.length > 0 ? next : undefined)
  return (
    <>
      {where.map((filter, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a filter is identified by its position
        <Group key={index} gap="xs" w="100%">
          <Text size="sm">where</Text>
          <ConditionRow condition={filter} change={(next) => put(where.with(index, next))} event={event} />
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label="Remove event filter"
            onClick={() => put(where.toSpliced(index, 1))}
          >
            <RemoveIcon />
          </ActionIcon>
          <ErrorText text={findError?.(`${path}[${index}]`)} />
        </Group>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={() => put([...where, newFilter])}>
        Add event filter
      </Button>
    </>
  )
}
