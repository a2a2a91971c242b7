import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

/** A named value in a table of two columns. Long ids wrap, so that the page fits a phone. */
export const Row = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th w={140}>{name}</Table.Th>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>{children}</Table.Td>
  </Table.Tr>
)
