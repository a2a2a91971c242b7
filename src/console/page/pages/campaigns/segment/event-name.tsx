import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useEventNames } from './catalog.ts'
import { FindingHint } from './finding-hint.tsx'
import { nearest } from './findings.ts'

/** The name of an event, with those that the project has as suggestions. */
export function EventName(props: AutocompleteProps) {
  const known = useEventNames()
  return <Autocomplete {...props} data={known?.items.map(({ name }) => name) ?? []} limit={60} />
}

/** Warns about the name of an event that has not happened. */
export function EventNameHint({ name, change }: { name: string; change: (name: string) => void }) {
  const known = useEventNames()
  if (!known || known.sampled === 0 || name === '' || known.items.some((one) => one.name === name)) return null
  const meant = nearest(
    name,
    known.items.map((one) => one.name)
  )
  const text = known.complete
    ? `No event is called “${name}”.`
    : `None of ${known.sampled.toLocaleString()} sampled events is called “${name}”.`
  return (
    <FindingHint
      finding={meant === undefined ? { text } : { text: `${text} Did you mean`, label: meant }}
      apply={() => meant !== undefined && change(meant)}
    />
  )
}
