import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Page } from '../wire.ts'
import { amount, type Cell, table } from './output.ts'
import { type Session, tell } from './session.ts'
import { remark } from './shell.ts'

export interface ListOptions {
  limit: number
  cursor?: string
}

/** Heads and cells of a table. */
export type Columns<Row> = readonly (readonly [head: string, cell: (row: Row) => Cell])[]

const pageSize = 200

/** Adds `--limit` and `--cursor`. Lists that can be long show their newest rows by default, the others show all. */
export function listing(
  command: Command,
  usual: number = Number.POSITIVE_INFINITY,
  about = 'How many at most, newest first; or "all"'
): Command {
  const shown = Number.isFinite(usual) ? String(usual) : 'all'
  const limit = new Option('--limit <count>', about)
  return command
    .addOption(limit.argParser(limitOf).default(usual, shown))
    .option('--cursor <cursor>', 'Continue after the next_cursor of an earlier --json list')
}

function limitOf(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY
  const number = Number(text)
  if (!/^\d{1,9}$/.test(text) || number < 1)
    throw new InvalidArgumentError('It must be a whole number from 1, or "all".')
  return number
}

/** Reads pages until the limit and joins them to one. */
export async function readAll<Row>(
  { client }: Session,
  path: string,
  { limit, cursor }: ListOptions,
  query: Record<string, string | undefined> = {}
): Promise<Page<Row>> {
  const all: Page<Row> = { items: [], next_cursor: cursor ?? null }
  do {
    const wanted = Math.min(pageSize, limit - all.items.length)
    const page = await client.json<Page<Row>>('GET', path, {
      query: { ...query, limit: wanted, cursor: all.next_cursor ?? undefined }
    })
    for (const row of page.items) all.items.push(row)
    all.next_cursor = page.next_cursor
  } while (all.next_cursor !== null && all.items.length < limit)
  return all
}

/** Prints a list as a table; `none` is the text for an empty one. */
export function showList<Row>(session: Session, page: Page<Row>, columns: Columns<Row>, none: string): void {
  const rows = page.items.map((row) => columns.map(([, cell]) => cell(row)))
  const heads = columns.map(([head]) => head)
  tell(session, page, rows.length > 0 ? table(heads, rows) : none)
  if (page.next_cursor !== null && !session.json)
    remark(session.shell, `\nShowing the newest ${amount(rows.length)}. \`--limit all\` shows all.`)
}
