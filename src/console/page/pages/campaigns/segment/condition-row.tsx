import { Autocomplete, Select } from '@mantine/core'
import type { AttributeCondition } from '../../../../../wire.ts'
import { operators, takesList, takesNoValue } from './segment.ts'
import { ListField, ValueField } from './value-field.tsx'

/** One condition: attribute, operator and value. */
export function ConditionRow({
  condition,
  change,
  attributes
}: {
  condition: AttributeCondition
  change: (condition: AttributeCondition) => void
  attributes: string[]
}) {
  const setValue = (value: unknown) => change({ ...condition, value })
  return (
    <>
      <Autocomplete
        aria-label="Attribute"
        w={140}
        size="xs"
        data={attributes}
        value={condition.attribute}
        onChange={(attribute) => change({ ...condition, attribute })}
      />
      <Select
        aria-label="Operator"
        w={140}
        size="xs"
        allowDeselect={false}
        value={condition.operator}
        onChange={(operator) => operator && change(withOperator(condition, operator))}
        data={operators}
      />
      {takesList(condition.operator) ? (
        <ListField values={Array.isArray(condition.value) ? condition.value : []} set={setValue} />
      ) : (
        !takesNoValue(condition.operator) && <ValueField value={condition.value} set={setValue} />
      )}
    </>
  )
}

/** Keeps the value if the new operator can use it. */
function withOperator({ value, ...rest }: AttributeCondition, operator: AttributeCondition['operator']) {
  if (takesNoValue(operator)) return { ...rest, operator }
  if (operator === 'within_last') return { ...rest, operator, value: '7d' }
  const single = Array.isArray(value) ? (value[0] ?? '') : (value ?? '')
  return { ...rest, operator, value: takesList(operator) ? [single].filter((each) => each !== '') : single }
}
