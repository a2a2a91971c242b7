import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../platform/duration.ts'
import { readTime } from '../platform/time.ts'

/** A time, or a duration before now, as the API reads it. */
export function pastTime(text: string): string {
  const ms = parseDuration(text)
  const at = ms === undefined ? readTime(text) : new Date(Date.now() - ms)
  if (!at) throw new InvalidArgumentError('It must be a duration such as 2h or 7d, or an RFC 3339 time.')
  return at.toISOString()
}
