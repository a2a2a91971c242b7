import { Box, Table } from '@mantine/core'
import { type Column, cellStyle, TableHead } from './columns.tsx'

/** A short list that is loaded as a whole. */
export const SimpleTable = <Item,>({
  items,
  columns,
  keyOf,
  label
}: {
  items: Item[]
  columns: Column<Item>[]
  keyOf: (item: Item) => string
  label: string
}) => (
  <Box tabIndex={0} role="group" aria-label={label} style={{ overflowX: 'auto' }}>
    <Table highlightOnHover aria-label={label} miw={560}>
      <TableHead columns={columns} />
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={keyOf(item)}>
            {columns.map(({ name, show }) => (
              <Table.Td key={name} style={cellStyle}>
                {show(item)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Box>
)
