import { Box, Button, Center, ScrollArea, Table, Text } from '@mantine/core'
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { PagedList as Pages } from '../api/paged-list.ts'
import { type Column, cellStyle, TableHead } from './columns.tsx'
import { ErrorAlert, Loading } from './states.tsx'
import { plural } from './texts.tsx'

interface Props<Item> {
  pages: Pages<Item>
  columns: Column<Item>[]
  keyOf: (item: Item) => string
  empty: ReactNode
  label: string
}

type Rows = Virtualizer<HTMLDivElement, Element>

const rowHeight = 44
const rowStyle = { height: rowHeight }

/** A list of any length: only the visible rows are in the DOM. */
export function PagedList<Item>({ pages, columns, keyOf, empty, label }: Props<Item>) {
  const viewport = useRef<HTMLDivElement>(null)
  const items = useMemo(() => pages.data?.pages.flatMap((page) => page.items) ?? [], [pages.data])
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    // Frames that scroll need not wait until the rows are drawn: those around the screen are there already.
    useFlushSync: false
  })
  useNextPage(pages, rows, items.length)
  if (pages.error && items.length === 0) return <ErrorAlert error={pages.error} retry={pages.refetch} />
  if (pages.isPending) return <Loading />
  if (items.length === 0) return empty
  return (
    <Box>
      <ScrollArea.Autosize
        mah="70vh"
        viewportRef={viewport}
        type="auto"
        viewportProps={{ tabIndex: 0, 'aria-label': label, role: 'region' }}
      >
        <Table highlightOnHover stickyHeader aria-label={label} miw={columns.length * 115}>
          <TableHead columns={columns} />
          <Body rows={rows} items={items} columns={columns} keyOf={keyOf} />
        </Table>
      </ScrollArea.Autosize>
      <Footer pages={pages} count={items.length} />
    </Box>
  )
}

/** Fetches the next page before its first row becomes visible. */
function useNextPage<Item>(pages: Pages<Item>, rows: Rows, count: number) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isError } = pages
  const near = (rows.getVirtualItems().at(-1)?.index ?? 0) > count - 20
  const scrolled = (rows.scrollOffset ?? 0) > 0
  useEffect(() => {
    if (near && scrolled && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage()
  }, [near, scrolled, hasNextPage, isFetchingNextPage, isError, fetchNextPage])
}

function Body<Item>({
  rows,
  items,
  columns,
  keyOf
}: { rows: Rows; items: Item[] } & Pick<Props<Item>, 'columns' | 'keyOf'>) {
  const shown = rows.getVirtualItems()
  const above = shown[0]?.start ?? 0
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    <Table.Tbody>
      {above > 0 && <tr aria-hidden style={{ height: above }} />}
      {shown.map(({ index }) => {
        const item = items[index]!
        return (
          <ListRow
            key={keyOf(item)}
            index={index}
            item={item}
            columns={columns as Column<unknown>[]}
            measure={rows.measureElement}
          />
        )
      })}
      {below > 0 && <tr aria-hidden style={{ height: below }} />}
    </Table.Tbody>
  )
}

/** Drawn once: scrolling draws only the rows that come into sight. */
const ListRow = memo(function ListRow({
  index,
  item,
  columns,
  measure
}: {
  index: number
  item: unknown
  columns: Column<unknown>[]
  measure: Rows['measureElement']
}) {
  return (
    <Table.Tr data-index={index} ref={measure} style={rowStyle}>
      {columns.map(({ name, show }) => (
        <Table.Td key={name} style={cellStyle}>
          {show(item)}
        </Table.Td>
      ))}
    </Table.Tr>
  )
})

function Footer<Item>({ pages, count }: { pages: Pages<Item>; count: number }) {
  return (
    <>
      {pages.restart && (
        <Center mt="sm">
          <Text size="sm" c="dimmed" mr="xs">
            New entries are hidden while you scroll back.
          </Text>
          <Button variant="default" size="xs" onClick={pages.restart}>
            Jump to latest
          </Button>
        </Center>
      )}
      <Center mt="sm">
        {pages.hasNextPage ? (
          <Button
            variant="default"
            size="xs"
            loading={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >
            Load more
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            {plural(count, 'entry', 'entries')}
          </Text>
        )}
      </Center>
    </>
  )
}
