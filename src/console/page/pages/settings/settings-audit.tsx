import { Text } from '@mantine/core'
import { ListOf, usePages } from '../../parts/list.tsx'
import { Empty } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

interface Entry {
  id: string
  at: string
  actor: string
  action: string
  target: string
  details: object
}

export const Audit = () => (
  <ListOf
    label="Audit log"
    pages={usePages<Entry>('/audit')}
    keyOf={({ id }) => id}
    empty={<Empty title="No changes yet" />}
    columns={[
      { name: 'Time', show: ({ at }) => <When at={at} /> },
      { name: 'Actor', show: ({ actor }) => <Text size="sm">{actor}</Text> },
      { name: 'Action', show: ({ action }) => action },
      { name: 'Target', show: ({ target }) => <Text size="sm">{target}</Text> },
      { name: 'Details', show: ({ details }) => <Text size="sm">{JSON.stringify(details)}</Text> }
    ]}
  />
)
