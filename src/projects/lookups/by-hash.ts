import { timingSafeEqual } from 'node:crypto'

/**
 * The rows by the text of their hash, compared again in constant time. They come without the hash itself: its bytes are a
 * part of what the connection read at once, so a remembered row would keep those 64 KiB.
 */
export async function byHash<Row extends { hash: Buffer }>(
  hashes: string[],
  find: (hashes: Buffer[]) => Promise<Row[]>
): Promise<Map<string, Omit<Row, 'hash'>>> {
  const wanted = new Map(hashes.map((hash) => [hash, Buffer.from(hash, 'base64')]))
  const found = new Map<string, Omit<Row, 'hash'>>()
  for (const { hash, ...row } of await find([...wanted.values()])) {
    const name = hash.toString('base64')
    const asked = wanted.get(name)
    if (asked && timingSafeEqual(hash, asked)) found.set(name, row)
  }
  return found
}
