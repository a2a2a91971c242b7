import type { CallOptions, Input, Name, Result, Transport } from './request.ts'

export interface Page<Item> {
  items: Item[]
  /** Pass it as `cursor` for the next page; null on the last. */
  next_cursor: string | null
}

/**
 * A list of any length. Iterate over it, and pages are read as they are needed:
 * `for await (const trigger of tidings.triggers.list()) …`
 */
export interface List<Item> extends AsyncIterable<Item> {
  /** One page, for lists that people page through. */
  page(): Promise<Page<Item>>
  /** Page after page. */
  pages(): AsyncIterable<Page<Item>>
  /** All items, or the first so many. */
  toArray(most?: number): Promise<Item[]>
}

/** The operations whose result is a page. */
export type ListName = { [One in Name]: Result<One> extends Page<unknown> ? One : never }[Name]
export type ItemOf<Operation extends ListName> = Result<Operation> extends { items: (infer Item)[] } ? Item : never

export function listOf<Operation extends ListName>(
  transport: Transport,
  operation: Operation,
  input: Input<Operation>,
  options?: CallOptions
): List<ItemOf<Operation>> {
  type Item = ItemOf<Operation>
  const query = (input as { query?: object }).query
  const read = (more: object): Promise<Page<Item>> =>
    transport.call(operation, { ...input, query: { ...query, ...more } }, options) as Promise<Page<Item>>

  async function* pages(): AsyncGenerator<Page<Item>> {
    for (let more = {}; ; ) {
      const page = await read(more)
      yield page
      if (page.next_cursor === null) return
      more = { cursor: page.next_cursor }
    }
  }
  async function* items(): AsyncGenerator<Item> {
    for await (const page of pages()) yield* page.items
  }
  return {
    page: () => read({}),
    pages,
    [Symbol.asyncIterator]: items,
    async toArray(most = Number.POSITIVE_INFINITY) {
      const found: Item[] = []
      if (most <= 0) return found
      for await (const item of items()) {
        found.push(item)
        if (found.length >= most) break
      }
      return found
    }
  }
}
