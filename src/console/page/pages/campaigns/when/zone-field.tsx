import { Autocomplete, type AutocompleteProps } from '@mantine/core'

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** The name of a time zone, with suggestions. */
export const ZoneField = (props: AutocompleteProps) => <Autocomplete {...props} data={zones} limit={40} />
