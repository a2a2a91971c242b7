import { type TSchema, Type } from '@sinclair/typebox'
import { Refusal } from '../errors.ts'
import { readEach, refusing } from '../fields.ts'
import { isUuid } from '../ids.ts'
import { isStorable } from '../json/storable.ts'
import { readTime, timeRule } from '../time.ts'

/** The paging of every list: newest first, an opaque cursor. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Entries in one answer.' })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the answer before.' }))
}

export const PageQuery = Type.Object(pageQuery)

export const pageOf = (item: TSchema) =>
  Type.Object({ items: Type.Array(item), next_cursor: Type.Union([Type.String(), Type.Null()]) })

export const encodeCursor = (...parts: string[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url')

const isText = (part: unknown): part is string => typeof part === 'string' && isStorable(part)

/** The parts of a cursor that the service made; any other text is refused. */
export function decodeCursor(cursor: string, parts: number): string[] {
  try {
    const found: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(found) && found.length === parts && found.every(isText)) return found
  } catch {}
  throw badCursor()
}

/** The id after which the next page of a list ordered by id starts. */
export function idAfter(cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const [id] = decodeCursor(cursor, 1)
  if (!isUuid(id!)) throw badCursor()
  return id!
}

/** The time in a cursor of a list ordered by time. */
export function timeOf(text: string): Date {
  const at = new Date(text)
  // JavaScript reads times that PostgreSQL does not, such as years beyond four digits.
  if (Number.isNaN(at.getTime()) || at.toISOString() !== text || text.length !== 24) throw badCursor()
  return at
}

const badCursor = () =>
  new Refusal('invalid_parameter', 'cursor: is not one that was given out', [
    { path: 'cursor', message: 'is not one that was given out' }
  ])

/** A page of rows. One row more than requested was read; if it exists, there is a next page. */
export function page<Row, Item>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => string,
  toItem: (row: Row) => Item
) {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(toItem), next_cursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}

export const defaultLimit = 50

/** The time that a list is narrowed to. */
export const periodQuery = {
  from: Type.Optional(Type.String({ description: 'Only entries of this time or later (RFC 3339).' })),
  to: Type.Optional(Type.String({ description: 'Only entries before this time (RFC 3339).' }))
}

export interface Period {
  from: Date | undefined
  to: Date | undefined
}

/** Refuses both times at once if both are wrong. */
export function readPeriod(query: { from?: string | undefined; to?: string | undefined }): Period {
  const [from, to] = readEach(['from', 'to'] as const, (name) => readTimeField(name, query[name]))
  return { from, to }
}

/** A field that holds a time; undefined if it is absent. */
export function readTimeField(name: string, text: string | null | undefined): Date | undefined {
  if (text === undefined || text === null) return undefined
  const at = readTime(text)
  if (!at) throw refusing('invalid_parameter')(name, timeRule)
  return at
}
