import { Box, Button, Group, JsonInput, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { errorText, readJson, readObject } from '../../../parts/json.ts'
import { Hint } from '../segment/hint.tsx'
import { isBlank, type TriggerProperty, valueIn, withValueIn } from './trigger-values.ts'

type Type = TriggerProperty['type']

const types: { value: Type; label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'True/false' },
  { value: 'json', label: 'JSON' }
]

interface Props {
  /** The values that the campaign uses. */
  fields: readonly TriggerProperty[]
  /** The properties as JSON text. */
  text: string
  setText: (text: string) => void
  /** `event` for campaigns that an event starts. */
  root?: 'trigger' | 'event'
  error?: string | undefined
}

/** A field for each value of the trigger that the campaign uses, or all of them as JSON. */
export function TriggerFields({ fields, text, setText, root = 'trigger', error }: Props) {
  const properties = readObject(text)
  const [asJson, setAsJson] = useState(false)
  const isEmpty = fields.length === 0 && text.trim() === '{}'
  if (isEmpty && !asJson)
    return (
      <Button variant="subtle" size="compact-xs" w="fit-content" onClick={() => setAsJson(true)}>
        Add {root} properties
      </Button>
    )
  // A text that is not an object can only be mended as text.
  const shown = asJson || fields.length === 0 || properties instanceof Error ? 'json' : 'fields'
  return (
    <Stack gap="xs" component="section" aria-label={`Values of the ${root}`}>
      {shown === 'fields' && !(properties instanceof Error) ? (
        fields.map((field) => (
          <ValueField
            key={field.name}
            field={field}
            label={`${root}.${field.name}`}
            value={valueIn(properties, field.path)}
            set={(value) => setText(JSON.stringify(withValueIn(properties, field.path, value)))}
          />
        ))
      ) : (
        <JsonInput
          label={root === 'event' ? 'Event properties' : 'Trigger properties'}
          description={`Values for {{ ${root}.* }}`}
          value={text}
          onChange={setText}
          error={errorText(properties) ?? error}
          autosize
          minRows={2}
        />
      )}
      {shown === 'fields' && error && (
        <Text c="var(--mantine-color-error)" size="sm" role="alert">
          {error}
        </Text>
      )}
      {fields.length > 0 && !(properties instanceof Error) && (
        <Button variant="subtle" size="compact-xs" w="fit-content" onClick={() => setAsJson(!asJson)}>
          {asJson ? 'Edit as fields' : 'Edit as JSON'}
        </Button>
      )}
    </Stack>
  )
}

function ValueField({
  field: { type: expected, required, paths },
  label,
  value,
  set
}: {
  field: TriggerProperty
  label: string
  value: unknown
  set: (value: unknown) => void
}) {
  const [chosen, setChosen] = useState<Type>()
  const type = typeOf(value) ?? chosen ?? expected
  const convert = (next: Type) => {
    setChosen(next)
    set(isBlank(value) ? undefined : converted(value, next))
  }
  return (
    <Box>
      <Group gap="xs" align="end" wrap="nowrap">
        <Box style={{ flex: 1, minWidth: 0 }}>
          <TypedInput key={type} type={type} label={label} value={value} set={set} />
        </Box>
        <Select
          aria-label={`Type of ${label}`}
          w={110}
          allowDeselect={false}
          value={type}
          data={types}
          onChange={(next) => next && convert(next)}
        />
      </Group>
      {required && isBlank(value) && <Hint>{warningFor(paths)}</Hint>}
    </Box>
  )
}

const warningFor = (paths: string[]) =>
  paths.includes('segment')
    ? 'Empty. The audience uses it, so it would match no user.'
    : 'Empty. The text has no default for it.'

const typeOf = (value: unknown): Type | undefined => {
  if (isBlank(value)) return undefined
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' ? 'text' : 'json'
}

/** The same value in another type, as far as it has one. */
function converted(value: unknown, type: Type): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (type === 'text') return text
  if (type === 'number') return text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text)
  if (type === 'boolean') return text === 'true'
  // Only a list or an object is shown as JSON: other values have a type of their own.
  return undefined
}

function TypedInput({
  type,
  label,
  value,
  set
}: {
  type: Type
  label: string
  value: unknown
  set: (value: unknown) => void
}) {
  if (type === 'number')
    return (
      <NumberInput
        label={label}
        value={typeof value === 'number' ? value : ''}
        onChange={(typed) => set(typeof typed === 'number' ? typed : undefined)}
      />
    )
  if (type === 'boolean')
    return (
      <Select
        label={label}
        placeholder="not set"
        clearable
        data={['true', 'false']}
        value={typeof value === 'boolean' ? String(value) : null}
        onChange={(chosen) => set(chosen === null ? undefined : chosen === 'true')}
      />
    )
  if (type === 'json') return <JsonField label={label} value={value} set={set} />
  return (
    <TextInput
      label={label}
      dir="auto"
      value={typeof value === 'string' ? value : ''}
      onChange={({ currentTarget }) => set(currentTarget.value || undefined)}
    />
  )
}

/** A list or an object. Its text is kept while it is not valid. */
function JsonField({ label, value, set }: { label: string; value: unknown; set: (value: unknown) => void }) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value)))
  const read = text.trim() === '' ? undefined : readJson(text)
  const change = (typed: string) => {
    setText(typed)
    const next = typed.trim() === '' ? undefined : readJson(typed)
    if (!(next instanceof Error)) set(next)
  }
  return (
    <JsonInput
      label={label}
      placeholder='["a", "b"]'
      value={text}
      onChange={change}
      error={errorText(read)}
      autosize
      minRows={1}
    />
  )
}
