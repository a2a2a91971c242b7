import { Button, Popover, TagsInput } from '@mantine/core'
import type { User } from '../../../../wire.ts'
import { useKnownProperties } from '../../api/properties.ts'
import { useProjectId } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { keep } from '../../parts/session-state.ts'
import { Clip } from '../../parts/texts.tsx'
import { useUrlJson } from './url-json.ts'
import { textOf } from './values.ts'

const most = 12
const usual = 3

/** The properties that the list shows: those of the address, of this browser, or the most frequent ones. */
export function useColumns(): [names: string[], choose: (names: string[]) => void] {
  const key = `tidings-columns ${useProjectId()}`
  const known = useKnownProperties()
  const [linked, setLinked] = useUrlJson<string[]>('columns')
  const choose = (names: string[]) => {
    keep(localStorage, key, JSON.stringify(names))
    setLinked(names)
  }
  return [asNames(linked) ?? kept(key) ?? known.slice(0, usual).map(({ name }) => name), choose]
}

const asNames = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string').slice(0, most) : undefined

function kept(key: string): string[] | undefined {
  try {
    return asNames(JSON.parse(localStorage.getItem(key) ?? 'null'))
  } catch {
    return undefined
  }
}

export const propertyColumn = (name: string): Column<User> => ({
  name,
  show: ({ properties }) =>
    Object.hasOwn(properties, name) ? <Clip width={220}>{textOf(properties[name]!) || '–'}</Clip> : <span>–</span>
})

/** The choice of columns. */
export function ColumnsButton({ names, choose }: { names: string[]; choose: (names: string[]) => void }) {
  const known = useKnownProperties()
  return (
    <Popover width={300} position="bottom-end" shadow="md" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="default">Columns</Button>
      </Popover.Target>
      <Popover.Dropdown>
        <TagsInput
          label="Columns"
          description="Properties to show in the list. This browser remembers them."
          placeholder="Add a property"
          data={known.map(({ name }) => name)}
          value={names}
          onChange={choose}
          maxTags={most}
          comboboxProps={{ withinPortal: false }}
          clearable
          data-autofocus
        />
      </Popover.Dropdown>
    </Popover>
  )
}
