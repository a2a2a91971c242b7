import { Type } from '@sinclair/typebox'
import { parseDuration } from '../duration.ts'
import { refusing } from '../fields.ts'

const dayMs = 86_400_000
/** A longer overlap would defeat the rotation. */
const mostOverlapMs = 30 * dayMs
const overlapRule = 'must be a duration such as 15m, 24h or 7d (s, m, h, d, w), from 0s to 30d'

/** The field of a rotation that says how long what it replaces still works. */
export const overlapField = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], description }))

export const Overlap = overlapField(
  'How long the old one still works: 15m, 24h, 7d, or 0s to stop it at once; at most 30d. Default: 24h.'
)

/** In milliseconds. */
export function overlapOf(text: string | null | undefined): number {
  if (text === undefined || text === null) return dayMs
  const ms = /^0[smhdw]$/.test(text) ? 0 : parseDuration(text)
  if (ms === undefined || ms > mostOverlapMs) throw refusing('invalid_parameter')('overlap', overlapRule)
  return ms
}
