import { Box, Button, Center, ScrollArea, Table, Text } from '@mantine/core'
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useRef } from 'react'
import { type Asked, type Page, project } from '../api.ts'
import { useProjectId } from '../who.ts'
import { Failed, Waiting } from './states.tsx'

/** Pages of a list of the project, newest first. */
export function usePages<Item>(path: string, query: Asked['query'] = {}, refetchMs: number | false = false) {
  const projectId = useProjectId()
  return useInfiniteQuery<Page<Item>, Error, InfiniteData<Page<Item>>, unknown[], string | undefined>({
    queryKey: ['list', projectId, path, query],
    queryFn: ({ pageParam, signal }) =>
      project<Page<Item>>(projectId, 'GET', path, { query: { ...query, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: refetchMs
  })
}

export interface Column<Item> {
  name: string
  show: (item: Item) => ReactNode
  width?: number | string
}

const rowHeight = 44

/** A list of any length: only the rows in sight are in the page. */
export function ListOf<Item>({
  pages,
  columns,
  keyOf,
  empty,
  label
}: {
  pages: ReturnType<typeof usePages<Item>>
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
  if (pages.error && items.length === 0) return <Failed error={pages.error} again={pages.refetch} />
  if (pages.isPending) return <Waiting />
  if (items.length === 0) return empty
  const shown = rows.getVirtualItems()
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
        <Table highlightOnHover stickyHeader aria-label={label} miw={640}>
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
                <Table.Tr key={keyOf(item)} style={{ height: rowHeight }}>
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
      <Center mt="sm">
        {pages.hasNextPage ? (
          <Button
            variant="default"
            size="xs"
            loading={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >
            Show more
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            {items.length === 1 ? '1 entry' : `${items.length} entries`}
          </Text>
        )}
      </Center>
    </Box>
  )
}
