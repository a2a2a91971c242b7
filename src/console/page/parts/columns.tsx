import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Column<Item> {
  name: string
  show: (item: Item) => ReactNode
  width?: number | string
}

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
