import { Type } from '@sinclair/typebox'
import { durationPattern, durationRule } from '../../platform/duration.ts'
import { saying } from '../../platform/http/schema.ts'

const Duration = (description: string) => Type.String({ ...saying(durationRule, durationPattern), description })
const Where = Type.Unsafe<object[]>({
  type: 'array',
  items: { type: 'object', additionalProperties: {} },
  maxItems: 50,
  description: 'Conditions on the event, as in a segment: {attribute: event.amount, operator: greater_than, value: 50}.'
})

export const EventSchema = (description: string) =>
  Type.Object(
    {
      event: Type.String({ minLength: 1, maxLength: 255, description: 'The name of the event.' }),
      where: Type.Optional(Where)
    },
    { description }
  )

export const EventTriggerSchema = Type.Object(
  {
    event: Type.String({ minLength: 1, maxLength: 255, description: 'The name of the event.' }),
    where: Type.Optional(Where),
    delay: Type.Optional(Duration('Between the event and the message: 30m. Absent: none.')),
    unless: Type.Optional(EventSchema('The message is not sent if the user sends this event during the delay.')),
    reentry: Type.Optional(
      Type.String({
        ...saying(
          `must be every or once, or ${durationRule.replace('must be ', '')}`,
          `^(every|once)$|${durationPattern}`
        ),
        description: 'every event, once, or again after a duration such as 7d. Absent: every.'
      })
    )
  },
  { description: 'For event_triggered campaigns: they go to the user of the event.' }
)

export const ScheduleSchema = Type.Object(
  {
    at: Type.Optional(Type.String({ maxLength: 40, description: 'Once, at this local time: 2026-12-24T18:00.' })),
    cron: Type.Optional(Type.String({ maxLength: 255, description: 'Again and again, by five fields: 0 9 * * 1.' })),
    timezone: Type.Optional(
      Type.String({
        description:
          "An IANA name, or user: each user's property timezone, else that of the device seen last. Absent: UTC."
      })
    ),
    fallback_timezone: Type.Optional(Type.String({ description: 'For users without a time zone. Absent: UTC.' })),
    starts_at: Type.Optional(Type.String({ maxLength: 40, description: 'For cron: not before this time.' })),
    ends_at: Type.Optional(Type.String({ maxLength: 40, description: 'For cron: not after this time.' })),
    late: Type.Optional(Duration('An occurrence that was missed by less than this is sent late. Absent: 1h.'))
  },
  { description: 'For scheduled campaigns: they go to their default_audience.' }
)
