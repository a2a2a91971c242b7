import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Column<Item> {
  name: string
  show: (item: Item) => ReactNode
  width?: number | string
}

/** Texts wrap; an id of hundreds of characters ends in dots, so that the other columns stay on the screen. */
export const cellStyle = { maxWidth: 320, overflow: 'hidden', textOverflow: 'ellipsis' } as const

export const TableHead = <Item,>({ columns }: { columns: Column<Item>[] }) => (
  <Table.Thead>
    <Table.Tr>
      {columns.map(({ name, width }) => (
        <Table.Th key={name} w={width}>
          {name}
        </Table.Th>
      ))}
    </Table.Tr>
  </Table.Thead>
)
