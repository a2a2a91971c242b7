import { Autocomplete, Select, Text, Textarea, TextInput } from '@mantine/core'
import { instantOf, localTimeOf, localZone } from '../../parts/local-time.ts'
import type { Kind } from './values.ts'

interface Props {
  kind: Kind
  text: string
  onChange: (text: string) => void
  error?: string | undefined
  /** Frequent values, which are offered while typing. */
  examples?: string[]
  /** A text may have several lines. */
  lines?: boolean
}

/** The input for a value of one type. */
export function ValueInput({ kind, text, onChange, error, examples = [], lines = false }: Props) {
  const label = 'Value'
  if (kind === 'null')
    return (
      <Text c="dimmed" size="sm">
        The property exists and has no value.
      </Text>
    )
  if (kind === 'boolean')
    return (
      <Select
        label={label}
        data={['true', 'false']}
        value={text === 'true' ? 'true' : 'false'}
        onChange={(chosen) => onChange(chosen ?? 'false')}
        allowDeselect={false}
        error={error}
      />
    )
  if (kind === 'time')
    return (
      <TextInput
        type="datetime-local"
        step={1}
        label={label}
        description={`In your time zone, ${localZone}`}
        defaultValue={text ? localTimeOf(text) : ''}
        onChange={({ currentTarget }) => onChange(instantOf(currentTarget.value) ?? '')}
        error={error}
      />
    )
  if (kind === 'text' && lines)
    return (
      <Textarea
        label={label}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        error={error}
        dir="auto"
        autosize
        maxRows={12}
      />
    )
  return (
    <Autocomplete
      label={label}
      value={text}
      onChange={onChange}
      data={examples}
      limit={20}
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      error={error}
      dir="auto"
    />
  )
}
