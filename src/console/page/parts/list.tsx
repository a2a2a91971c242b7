import { Box, Button, Center, Table, Text } from '@mantine/core'
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, useEffect, useMemo, useState } from 'react'
import type { PagedList as Pages } from '../api/paged-list.ts'
import { type Column, TableHead } from './columns.tsx'
import classes from './list.module.css'
import { ErrorAlert, Loading } from './states.tsx'
import { plural } from './texts.tsx'

interface Props<Item> {
  pages: Pages<Item>
  columns: Column<Item>[]
  keyOf: (item: Item) => string
  empty: ReactNode
  label: string
}

type Rows = Virtualizer<HTMLElement, Element>

const rowHeight = 44

/** A list of any length: only the visible rows are in the DOM. */
export function PagedList<Item>({ pages, columns, keyOf, empty, label }: Props<Item>) {
  const [viewport, setViewport] = useState<HTMLElement | null>(null)
  const items = useMemo(() => pages.data?.pages.flatMap((page) => page.items) ?? [], [pages.data])
  if (pages.error && items.length === 0) return <ErrorAlert error={pages.error} retry={pages.refetch} />
  if (pages.isPending) return <Loading />
  if (items.length === 0) return empty
  return (
    <Box>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <section ref={setViewport} className={classes.viewport} tabIndex={0} aria-label={label}>
        <Table className={classes.table} stickyHeader aria-label={label} miw={columns.length * 115}>
          <TableHead columns={columns} />
          {viewport && <Body viewport={viewport} pages={pages} items={items} columns={columns} keyOf={keyOf} />}
        </Table>
      </section>
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

/** The rows around the screen. Scrolling draws this part of the page only. */
function Body<Item>({
  viewport,
  pages,
  items,
  columns,
  keyOf
}: { viewport: HTMLElement; items: Item[] } & Pick<Props<Item>, 'pages' | 'columns' | 'keyOf'>) {
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => viewport,
    estimateSize: () => rowHeight,
    overscan: 8,
    // Frames that scroll need not wait until the rows are drawn: those around the screen are there already.
    useFlushSync: false
  })
  useNextPage(pages, rows, items.length)
  const shown = rows.getVirtualItems()
  const above = shown[0]?.start ?? 0
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    <tbody>
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
    </tbody>
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
    <tr data-index={index} ref={measure} className={classes.row}>
      {columns.map(({ name, show }) => (
        <td key={name}>{show(item)}</td>
      ))}
    </tr>
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
