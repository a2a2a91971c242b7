import { JsonInput } from '@mantine/core'
import { useState } from 'react'
import { errorText, readObject } from '../../../parts/json.ts'
import { useEditor } from '../editor-form.ts'

/** An object as JSON. Text that is not an object is kept as it is: a reload keeps it, and the service rejects it. */
export function ObjectField({
  path,
  label,
  description,
  optional = false
}: {
  path: string
  label: string
  description: string
  /** Whether a blank text, or an object without fields, leaves the field out. */
  optional?: boolean
}) {
  const { read, set, canEdit, findError } = useEditor()
  const [text, setText] = useState(() => textOf(read(path)))
  const isBlank = (value: object) => optional && Object.keys(value).length === 0
  const parse = (typed: string) => (optional && typed.trim() === '' ? {} : readObject(typed))
  return (
    <JsonInput
      label={label}
      description={description}
      value={text}
      onChange={(typed) => {
        setText(typed)
        const value = parse(typed)
        set(path, value instanceof Error ? typed : isBlank(value) ? undefined : value)
      }}
      error={errorText(parse(text)) ?? findError(path)}
      data-template
      readOnly={!canEdit}
      autosize
      minRows={optional ? 1 : 3}
      maxRows={16}
    />
  )
}

const textOf = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)
