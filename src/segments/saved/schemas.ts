import { type Static, Type } from '@sinclair/typebox'
import { printable } from '../../platform/http/schema.ts'
import type { Segment } from '../language.ts'

const SegmentField = Type.Unsafe<Segment>({
  type: 'object',
  description: 'See docs/reference/segments.md. It may refer to other saved segments.'
})
const Name = Type.String({ minLength: 1, maxLength: 256, ...printable, description: 'For people.' })

export const SegmentBody = Type.Object({ name: Name, segment: Type.Unsafe<object>(SegmentField) })

const size = {
  users: Type.Integer({ description: 'Users that match.' }),
  reachable_users: Type.Integer({ description: 'Of these, users with a device that a push reaches.' }),
  devices: Type.Integer({ description: 'Matching devices that a push reaches.' }),
  complete: Type.Boolean({ description: 'false: not all users were counted, and the numbers are lower bounds.' })
}
const Time = (description: string) => Type.Unsafe<string>({ type: 'string', format: 'date-time', description })

const saved = {
  segment_id: Type.String(),
  name: Name,
  segment: SegmentField,
  version: Type.Integer({ description: 'Rises with every change.' }),
  created_at: Time('When it was saved first.'),
  updated_at: Time('When it was changed last.')
}
export const DraftSegmentBody = Type.Object({ segment: SegmentField })
export const ListedSegment = Type.Object(saved)
export const SegmentAnswer = Type.Object({
  ...saved,
  campaigns: Type.Array(Type.String(), {
    description: 'Campaigns that use it, at most 20. Archived ones do not count.'
  })
})
export const SavedAnswer = Type.Object({
  ...SegmentAnswer.properties,
  result: Type.Unsafe<'created' | 'updated' | 'unchanged'>({
    type: 'string',
    enum: ['created', 'updated', 'unchanged']
  })
})
export const CountAnswer = Type.Object({
  ...size,
  reason: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'Why it is not complete: `too_many_users` for three seconds, `busy` while other segments of the project were counted, `segment_too_slow`, `segment_invalid`, or `missing_trigger_property`, where the size depends on a trigger.'
  }),
  visited: Type.Optional(
    Type.Integer({ description: 'If the time was too short: how many users were compared until then.' })
  ),
  about: Type.Optional(
    Type.Integer({ description: 'With `visited`: about how many users the project has, if that is known.' })
  )
})
export const SizeAnswer = Type.Object({
  day: Type.String({ description: 'In UTC: 2026-11-16.' }),
  ...size,
  counted_at: Time('When it was counted.')
})

export type ListedSegment = Static<typeof ListedSegment>
export type SegmentAnswer = Static<typeof SegmentAnswer>
export type SavedAnswer = Static<typeof SavedAnswer>
export type CountAnswer = Static<typeof CountAnswer>
export type SizeAnswer = Static<typeof SizeAnswer>

export const segmentExample = {
  name: 'Big spenders',
  segment: { all: [{ attribute: 'user.orders', operator: 'greater_than', value: 10 }] }
}
