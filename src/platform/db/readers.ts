import pg from 'pg'
import { readJson } from '../json/names.ts'

const [json, jsonb, timestamptz] = [114, 3802, 1184]
const general = pg.types.getTypeParser(timestamptz, 'text') as (text: string) => Date

const two = (text: string, at: number) => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528

/**
 * Reads `2026-11-17 22:00:01.123456+00`, the form of nearly all times, in 0.25 µs instead of 1.0 to 1.4: a page of messages
 * has eight in a row. Every other form (another zone, a year of five digits, infinity) goes to the parser of the driver.
 */
export function readTime(text: string): Date {
  const end = text.length - 3
  if (end < 19 || end > 26 || text[4] !== '-' || text[10] !== ' ' || !text.endsWith('+00')) return general(text)
  let ms = 0
  for (let at = 20, worth = 100; at < end && worth >= 1; at += 1, worth /= 10) ms += (text.charCodeAt(at) - 48) * worth
  const year = two(text, 0) * 100 + two(text, 2)
  // `Date.UTC` moves these to the twentieth century.
  if (year < 100) return general(text)
  return new Date(Date.UTC(year, two(text, 5) - 1, two(text, 8), two(text, 11), two(text, 14), two(text, 17), ms))
}

/** For all connections of this process. */
export function installReaders(): void {
  pg.types.setTypeParser(timestamptz, readTime)
  for (const type of [json, jsonb]) pg.types.setTypeParser(type, readJson)
}
