import { Box, Button, Center, ScrollArea, Table, Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import type { PagedList as Pages } from '../api/paged-list.ts'
import { ErrorAlert, Loading } from './states.tsx'
import { plural } from './texts.tsx'

export interface Column<Item> {
  name: string
  show: (item: Item) => ReactNode
  width?: number | string
}

const rowHeight = 44

/** A list of any length: only the visible rows are in the DOM. */
export function PagedList<Item>({
  pages,
  columns,
  keyOf,
  empty,
  label
}: {
  pages: Pages<Item>
  columns: Column<Item>[]
  keyOf: (item: Item) => string
  empty: ReactNode
  label: string
}) {
  const viewport = useRef<HTMLDivElement>(null)
  const items = pages.data?.pages.flatMap((page) => page.items) ?? []
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan: 12
  })
  const shown = rows.getVirtualItems()
  // The next page is fetched before its first row becomes visible.
  const near = (shown.at(-1)?.index ?? 0) > items.length - 20
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isError } = pages
  const scrolled = (rows.scrollOffset ?? 0) > 0
  useEffect(() => {
    if (near && scrolled && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage()
  }, [near, scrolled, hasNextPage, isFetchingNextPage, isError, fetchNextPage])
  if (pages.error && items.length === 0) return <ErrorAlert error={pages.error} again={pages.refetch} />
  if (pages.isPending) return <Loading />
  if (items.length === 0) return empty
  const above = shown[0]?.start ?? 0
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    <Box>
      <ScrollArea.Autosize
        mah="70vh"
        viewportRef={viewport}
        type="auto"
        viewportProps={{ tabIndex: 0, 'aria-label': label, role: 'region' }}
      >
        <Table highlightOnHover stickyHeader aria-label={label} miw={columns.length * 115}>
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ name, width }) => (
                <Table.Th key={name} w={width}>
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {above > 0 && <tr aria-hidden style={{ height: above }} />}
            {shown.map(({ index }) => {
              const item = items[index]!
              return (
                <Table.Tr key={keyOf(item)} data-index={index} ref={rows.measureElement} style={{ height: rowHeight }}>
                  {columns.map(({ name, show }) => (
                    <Table.Td key={name}>{show(item)}</Table.Td>
                  ))}
                </Table.Tr>
              )
            })}
            {below > 0 && <tr aria-hidden style={{ height: below }} />}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
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
            {plural(items.length, 'entry', 'entries')}
          </Text>
        )}
      </Center>
    </Box>
  )
}
