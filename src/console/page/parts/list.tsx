import { Box, Button, Center, ScrollArea, Table, Text } from '@mantine/core'
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import { type Asked, type Page, project } from '../api.ts'
import { useProjectId } from '../who.ts'
import { Failed, Waiting } from './states.tsx'
import { many } from './texts.tsx'

/** Pages of a list of the project, newest first. */
export function usePages<Item>(path: string, query: Asked['query'] = {}, refetchMs: number | false = false) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const queryKey = ['list', projectId, path, query]
  const pages = useInfiniteQuery<Page<Item>, Error, InfiniteData<Page<Item>>, unknown[], string | undefined>({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      project<Page<Item>>(projectId, 'GET', path, { query: { ...query, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // Who has gone far back reads: asking for all of it anew, again and again, would cost more than it tells.
    refetchInterval: ({ state }) => (isDeep(state.data) ? false : refetchMs),
    refetchOnWindowFocus: ({ state }) => !isDeep(state.data)
  })
  const resting = refetchMs !== false && isDeep(pages.data)
  return { ...pages, ...(resting && { restart: () => void queries.resetQueries({ queryKey }) }) }
}

/** `restart`: the list has stopped renewing itself, and this begins it anew. */
export type Pages<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>, Error> & { restart?: () => void }

const isDeep = (data: InfiniteData<Page<unknown>> | undefined) => (data?.pages.length ?? 0) > 3

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
  // The next page is fetched before its first row is in sight.
  const near = (shown.at(-1)?.index ?? 0) > items.length - 20
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isError } = pages
  const scrolled = (rows.scrollOffset ?? 0) > 0
  useEffect(() => {
    if (near && scrolled && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage()
  }, [near, scrolled, hasNextPage, isFetchingNextPage, isError, fetchNextPage])
  if (pages.error && items.length === 0) return <Failed error={pages.error} again={pages.refetch} />
  if (pages.isPending) return <Waiting />
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
            {many(items.length, 'entry', 'entries')}
          </Text>
        )}
      </Center>
    </Box>
  )
}
