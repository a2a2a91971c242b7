import { type Static, Type } from '@sinclair/typebox'
import { durationPattern, durationRule } from '../../platform/duration.ts'
import { saying } from '../../platform/http/schema.ts'
import { MessageSchema, StepSchema, Template, VariantSchema } from './message-schema.ts'
import { EventSchema, EventTriggerSchema, ScheduleSchema } from './running-schema.ts'

const oneOf = <const Word extends string>(words: Word[], options: object) =>
  Type.Unsafe<Word>({ type: 'string', enum: words, ...options })
const AnyObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: {}, description })

export const TargetSchema = Type.Object(
  {
    project_user_id: Type.Optional(Type.String({ minLength: 1 })),
    device_id: Type.Optional(Type.String({ minLength: 1 })),
    user_id: Type.Optional(Type.String({ minLength: 1, description: "The service's own id of a user." }))
  },
  { description: 'Exactly one of the three.', minProperties: 1 }
)

export const AudienceSchema = Type.Object({
  broadcast: Type.Optional(Type.Boolean({ description: 'true: everyone in the segment; targets are ignored.' })),
  targets: Type.Optional(Type.Array(TargetSchema, { maxItems: 20_000 }))
})

const timeOfDay = saying('must be a time such as 08:30 or 22:00', '^([01][0-9]|2[0-3]):[0-5][0-9]$')

export const QuietHoursSchema = Type.Object({
  from: Type.String({ ...timeOfDay, description: 'Local time, 22:00.' }),
  to: Type.String({ ...timeOfDay, description: 'Local time; on the next day if it is before from.' }),
  timezone: Type.String({
    default: 'device',
    description: 'device, user (the property timezone, else the device, else UTC) or an IANA name.'
  }),
  action: oneOf(['skip', 'hold'], {
    default: 'hold',
    description: 'skip: the message is not sent. hold: the message is sent when the quiet hours are over.'
  })
})

const FrequencyCapSchema = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  within: Type.String({ ...saying(durationRule, durationPattern), description: '15m, 24h, 30d.' })
})

export const LiveActivitySchema = Type.Object({
  attributes_type: Type.String({ minLength: 1, maxLength: 255 }),
  attributes: AnyObject('Strings inside are Liquid templates.'),
  content_state: AnyObject('Strings inside are Liquid templates.'),
  alert: Type.Optional(
    Type.Object({
      title: Type.Optional(Template('Default: Live Activity.')),
      body: Type.Optional(Template('Default: Started.'))
    })
  ),
  apns_channel_id: Type.Optional(
    Template("Apple's id of the broadcast channel that the activities listen to (iOS 18). Default: none.")
  )
})

const WinnerSchema = Type.Object({
  after: Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Messages that are sent before the choice.' }),
  by: oneOf(['conversion', 'tapped', 'delivered'], { description: 'The rate that decides.' })
})

const ConversionSchema = Type.Object({
  event: Type.String({ minLength: 1, maxLength: 255, description: 'The event that counts as success.' }),
  within: Type.String({ ...saying(durationRule, durationPattern), description: 'After the message: 7d.' }),
  value_property: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'The number property of the event that is summed up.' })
  )
})

/** A campaign as it is stored, returned and written in a file. */
export const CampaignSchema = Type.Object({
  campaign_id: Type.Optional(
    Type.String({ minLength: 1, description: '1 to 255 characters of your choice; a UUIDv7 if absent.' })
  ),
  name: Type.String({ minLength: 1, maxLength: 256 }),
  type: oneOf(['api_triggered', 'scheduled', 'event_triggered'], {
    default: 'api_triggered'
  }),
  status: oneOf(['draft', 'active', 'paused', 'archived'], {
    default: 'draft',
    description: 'Only an active campaign can be triggered.'
  }),
  segment: Type.Unsafe<object>({
    type: 'object',
    default: { all: [] },
    description: 'Who may receive the campaign: see docs/reference/segments.md. Absent or empty: everyone.'
  }),
  default_audience: Type.Optional(AudienceSchema),
  schedule: Type.Optional(ScheduleSchema),
  event_trigger: Type.Optional(EventTriggerSchema),
  topic: Type.Optional(
    Type.String({
      ...saying('must be the id of a topic: a to z, digits, _ and -, at most 64', '^[a-z0-9_-]{1,64}$'),
      description: 'Users who said no to this topic are left out.'
    })
  ),
  transactional: Type.Optional(
    Type.Boolean({
      description: 'true: preferences and the limits of the project do not hold it back, as with a receipt or a code.'
    })
  ),
  message: Type.Optional(MessageSchema),
  variants: Type.Optional(
    Type.Array(VariantSchema, { minItems: 2, maxItems: 20, description: 'Instead of message: each user gets one.' })
  ),
  steps: Type.Optional(
    Type.Array(StepSchema, { minItems: 1, maxItems: 50, description: 'Instead of message: one after another.' })
  ),
  exit: Type.Optional(EventSchema('A user who sends this event leaves the steps.')),
  holdout: Type.Optional(
    Type.Number({ minimum: 0, maximum: 100, description: 'Percent of the users who get nothing, to compare with.' })
  ),
  winner: Type.Optional(WinnerSchema),
  on_missing: Type.Optional(
    oneOf(['send', 'skip'], {
      description: 'skip: a user for whom a template lacks a value gets nothing. Absent: send.'
    })
  ),
  conversion: Type.Optional(ConversionSchema),
  live_activity: Type.Optional(LiveActivitySchema),
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_419_200 })),
  throttle_per_second: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  frequency_cap: Type.Optional(FrequencyCapSchema),
  quiet_hours: Type.Optional(QuietHoursSchema)
})

export type CampaignFields = Static<typeof CampaignSchema>
export type Message = Static<typeof MessageSchema>
export type Audience = Static<typeof AudienceSchema>
export type Target = Static<typeof TargetSchema>
export type QuietHours = Static<typeof QuietHoursSchema>
export type Schedule = Static<typeof ScheduleSchema>
