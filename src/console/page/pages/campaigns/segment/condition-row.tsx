import { Autocomplete, Group, Select, Text } from '@mantine/core'
import type { AttributeCondition, Properties } from '../../../../../wire.ts'
import { type Property, useProperties } from './catalog.ts'
import { FindingHint } from './finding-hint.tsx'
import { type Finding, fitted, unknownName, wrongType } from './findings.ts'
import { attributes, operatorsFor, takesList, takesNoValue } from './segment.ts'
import { ListField, ValueField } from './value-field.tsx'

interface Props {
  condition: AttributeCondition
  /** Whether the condition stands in a `not`. */
  negated?: boolean
  change: (condition: AttributeCondition, negated: boolean) => void
  /** The event whose properties are compared; absent: users and devices. */
  event?: string
  readOnly?: boolean
}

/** One condition: attribute, operator and value, with suggestions from the data of the project. */
export function ConditionRow({ condition, negated = false, change, event, readOnly = false }: Props) {
  const users = useProperties('user')
  const devices = useProperties('device')
  const events = useProperties({ event: event ?? '' })
  const known = event === undefined ? users : events
  const prefix = event === undefined ? 'user.' : 'event.'
  const property = propertyOf(condition.attribute, known, devices, prefix)
  const put = (changed: Partial<AttributeCondition>) => change({ ...condition, ...changed }, negated)
  const choose = (attribute: string) => {
    const next = propertyOf(attribute, known, devices, prefix)
    const value = next && Object.hasOwn(condition, 'value') ? { value: fitted(condition.value, next.types) } : {}
    put({ attribute, ...value })
  }
  const finding = findingOf(condition, prefix, known, property)
  const examples = property?.examples ?? []
  return (
    <>
      <Autocomplete
        aria-label="Attribute"
        w={170}
        size="xs"
        readOnly={readOnly}
        data={event === undefined ? attributeGroups(users) : known.items.map(({ name }) => `event.${name}`)}
        renderOption={({ option: { value } }) => (
          <Option name={value} property={propertyOf(value, known, devices, prefix)} />
        )}
        comboboxProps={{ width: 280, position: 'bottom-start' }}
        maxDropdownHeight={280}
        limit={60}
        value={condition.attribute}
        onChange={choose}
      />
      <Select
        aria-label="Operator"
        w={160}
        size="xs"
        readOnly={readOnly}
        allowDeselect={false}
        value={`${negated ? 'not ' : ''}${condition.operator}`}
        onChange={(chosen) => chosen && change(withOperator(condition, operatorIn(chosen)), chosen.startsWith('not '))}
        data={operatorsFor(condition, negated, event === undefined)}
      />
      {takesList(condition.operator) ? (
        <ListField
          values={Array.isArray(condition.value) ? condition.value : []}
          set={(value) => put({ value })}
          examples={examples}
        />
      ) : (
        !takesNoValue(condition.operator) && (
          <ValueField value={condition.value} set={(value) => put({ value })} examples={examples} />
        )
      )}
      {!readOnly && <FindingHint finding={finding} apply={({ change: next }) => next && put(next)} />}
    </>
  )
}

const operatorIn = (chosen: string) => chosen.replace(/^not /, '') as AttributeCondition['operator']

const isFixed = (attribute: string) => attributes.includes(attribute)

/** What is known about the property of a condition. */
function propertyOf(attribute: string, known: Properties, devices: Properties, prefix: string): Property | undefined {
  if (attribute.startsWith('device.')) return devices.items.find(({ name }) => `device.${name}` === attribute)
  if (isFixed(attribute)) return undefined
  const name = nameIn(attribute, prefix)
  return known.items.find((one) => one.name === name)
}

const nameIn = (attribute: string, prefix: string) =>
  attribute.startsWith(prefix) ? attribute.slice(prefix.length).replace(/^properties\./, '') : ''

function findingOf(
  condition: AttributeCondition,
  prefix: 'user.' | 'event.',
  known: Properties,
  property: Property | undefined
): Finding | undefined {
  if (property) return wrongType(condition, property)
  return isFixed(condition.attribute) ? undefined : unknownName(prefix, nameIn(condition.attribute, prefix), known)
}

/** `user.id` is not the property of that name. */
const written = (name: string) => (isFixed(`user.${name}`) ? `user.properties.${name}` : `user.${name}`)

const attributeGroups = ({ items }: Properties) => [
  { group: 'Properties', items: items.map(({ name }) => written(name)) },
  { group: 'User', items: attributes.filter((name) => name.startsWith('user.')) },
  { group: 'Device', items: attributes.filter((name) => name.startsWith('device.')) }
]

const Option = ({ name, property }: { name: string; property: Property | undefined }) => (
  <Group justify="space-between" wrap="nowrap" gap="xs" w="100%">
    <Text size="xs" dir="auto" style={{ overflowWrap: 'anywhere' }}>
      {name}
    </Text>
    {property && (
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {property.types.map((type) => (type === 'string' ? 'text' : type)).join(', ')} ·{' '}
        {Math.round(property.share * 100)}%
      </Text>
    )}
  </Group>
)

/** Keeps the value if the new operator can use it. */
function withOperator({ value, ...rest }: AttributeCondition, operator: AttributeCondition['operator']) {
  if (takesNoValue(operator)) return { ...rest, operator }
  if (operator === 'within_last') return { ...rest, operator, value: '7d' }
  const single = Array.isArray(value) ? (value[0] ?? '') : (value ?? '')
  return { ...rest, operator, value: takesList(operator) ? [single].filter((each) => each !== '') : single }
}
