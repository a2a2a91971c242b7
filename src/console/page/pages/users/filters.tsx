import { Autocomplete, Button, Group, Pill, Select } from '@mantine/core'
import { useState } from 'react'
import type { UserProperties } from '../../../../wire.ts'
import { useKnownProperties } from '../../api/properties.ts'
import { ValueInput } from './value-input.tsx'
import { type Kind, kinds, readValue, shownValue, textOf } from './values.ts'

/** The service takes no more. */
const most = 5
/** A time is a text for the service. */
const searchable = kinds.filter(({ value }) => value !== 'time')

interface Props {
  where: UserProperties
  onChange: (where: UserProperties) => void
}

/** The conditions on properties, each of which can be removed. */
export function Filters({ where, onChange }: Props) {
  const remove = (name: string) => onChange(Object.fromEntries(Object.entries(where).filter(([each]) => each !== name)))
  return (
    <Pill.Group role="group" aria-label="Filters">
      {Object.entries(where).map(([name, value]) => (
        <Pill
          key={name}
          size="lg"
          maw="100%"
          dir="auto"
          withRemoveButton
          onRemove={() => remove(name)}
          removeButtonProps={{ 'aria-label': `Remove filter ${name}`, 'aria-hidden': false, tabIndex: 0 }}
        >
          {`${name} is ${shownValue(value)}`}
        </Pill>
      ))}
    </Pill.Group>
  )
}

/** A form for one more condition. */
export function AddFilter({ where, onChange }: Props) {
  const known = useKnownProperties()
  const [name, setName] = useState('')
  const [chosen, setKind] = useState<Kind>()
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string>()
  if (Object.keys(where).length >= most) return null
  const property = known.find((each) => each.name === name)
  const kind = chosen ?? usualKind(property?.types ?? [])
  const examples = (property?.examples ?? []).filter((value) => typeof value === (kind === 'text' ? 'string' : kind))
  const add = () => {
    const value = readValue(kind, text)
    setFault(value instanceof Error ? value.message : undefined)
    if (value instanceof Error) return
    onChange({ ...where, [name]: value })
    setName('')
    setKind(undefined)
    setText('')
  }
  return (
    <form
      aria-label="Add filter"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <Group align="start" gap="sm">
        <Autocomplete
          label="Filter by property"
          placeholder="Any property"
          data={known.map((each) => each.name)}
          limit={50}
          value={name}
          onChange={(typed) => {
            setName(typed)
            setKind(undefined)
          }}
          maxLength={256}
          dir="auto"
          w={180}
        />
        {name !== '' && (
          <>
            <Select
              label="Type"
              data={searchable}
              value={kind}
              onChange={(value) => setKind((value as Kind | null) ?? undefined)}
              allowDeselect={false}
              w={150}
            />
            <ValueInput
              kind={kind}
              text={text}
              onChange={setText}
              error={fault}
              examples={[...new Set(examples.map((value) => textOf(value as UserProperties[string])))]}
            />
            <Button type="submit" variant="light" mt={25}>
              Add filter
            </Button>
          </>
        )}
      </Group>
    </form>
  )
}

/** The type that most values of the property have. */
function usualKind(types: readonly string[]): Kind {
  const [type] = types.filter((each) => each !== 'null')
  return type === 'number' || type === 'boolean' ? type : 'text'
}
