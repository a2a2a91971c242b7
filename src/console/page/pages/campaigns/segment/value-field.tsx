import { Autocomplete, Group, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { initialValues, referenceName, referenceTo, typeOf, type ValueType } from './segment.ts'

type Set<Value> = (value: Value) => void

/** The type of a value and a field for it. */
export function ValueField({ value, set, examples }: { value: unknown; set: Set<unknown>; examples: unknown[] }) {
  const type = typeOf(value)
  return (
    <Group gap={4} wrap="nowrap">
      <Select
        aria-label="Value type"
        w={135}
        size="xs"
        allowDeselect={false}
        value={type}
        data={Object.keys(initialValues) as ValueType[]}
        onChange={(next) => next && set(initialValues[next])}
      />
      <TypedField type={type} value={value} set={set} examples={examples} />
    </Group>
  )
}

function TypedField({
  type,
  value,
  set,
  examples
}: {
  type: ValueType
  value: unknown
  set: Set<unknown>
  examples: unknown[]
}) {
  if (type === 'text')
    return (
      <Autocomplete
        aria-label="Value"
        size="xs"
        w={140}
        dir="auto"
        data={[...new Set(examples.filter((one) => typeof one === 'string' && one !== ''))] as string[]}
        value={String(value ?? '')}
        onChange={set}
      />
    )
  if (type === 'number')
    return (
      <NumberInput
        aria-label="Value"
        size="xs"
        w={120}
        value={Number(value)}
        onChange={(typed) => set(Number(typed))}
      />
    )
  if (type === 'true/false')
    return (
      <Select
        aria-label="Value"
        size="xs"
        w={90}
        allowDeselect={false}
        data={['true', 'false']}
        value={String(value)}
        onChange={(chosen) => set(chosen === 'true')}
      />
    )
  if (type === 'trigger property')
    return (
      <TextInput
        aria-label="Trigger property name"
        size="xs"
        value={referenceName(value)}
        onChange={({ currentTarget }) => set(referenceTo(currentTarget.value))}
      />
    )
  return null
}

/** Values of `is one of`. The type applies to values that are typed from now on. */
export function ListField({ values, set, examples }: { values: unknown[]; set: Set<unknown[]>; examples: unknown[] }) {
  const [numbers, setNumbers] = useState(() => values.length > 0 && values.every((value) => typeof value === 'number'))
  const known = (text: string) => values.find((value) => String(value) === text)
  const read = (text: string): unknown => (numbers && text.trim() !== '' && isNumeric(text) ? Number(text) : text)
  const setType = (type: string | null) => {
    setNumbers(type === 'numbers')
    set(values.map((value) => (type === 'numbers' && isNumeric(value) ? Number(value) : String(value))))
  }
  return (
    <Group gap={4} wrap="nowrap">
      <Select
        aria-label="Value type"
        w={110}
        size="xs"
        allowDeselect={false}
        value={numbers ? 'numbers' : 'text'}
        data={['text', 'numbers']}
        onChange={setType}
      />
      <TagsInput
        aria-label="Values"
        size="xs"
        w={220}
        value={values.map(String)}
        data={[...new Set(examples.filter((one) => one !== null && one !== '').map(String))]}
        onChange={(texts) => set(texts.map((text) => known(text) ?? read(text)))}
        acceptValueOnBlur
      />
    </Group>
  )
}

const isNumeric = (value: unknown) => !Number.isNaN(Number(value))
