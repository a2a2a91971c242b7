import { type Static, Type } from '@sinclair/typebox'
import { durationPattern, durationRule } from '../../platform/duration.ts'
import { saying } from '../../platform/http/schema.ts'

const Template = (description: string) =>
  Type.String({ maxLength: 16_384, description: `${description} A Liquid template.` })
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

const MessageSchema = Type.Object({
  title: Type.Optional(Template('At least one of title and body.')),
  body: Type.Optional(Template('At least one of title and body.')),
  image_url: Type.Optional(Template('http or https.')),
  landing_url: Type.Optional(Template('An absolute address of any scheme.'))
})

const LiveActivitySchema = Type.Object({
  attributes_type: Type.String({ minLength: 1, maxLength: 255 }),
  attributes: AnyObject('Strings inside are Liquid templates.'),
  content_state: AnyObject('Strings inside are Liquid templates.'),
  alert: Type.Optional(
    Type.Object({
      title: Type.Optional(Template('Default: Live Activity.')),
      body: Type.Optional(Template('Default: Started.'))
    })
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
  message: Type.Optional(MessageSchema),
  live_activity: Type.Optional(LiveActivitySchema),
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_419_200 })),
  throttle_per_second: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  frequency_cap: Type.Optional(FrequencyCapSchema),
  quiet_hours: Type.Optional(QuietHoursSchema)
})

export type CampaignFields = Static<typeof CampaignSchema>
export type Audience = Static<typeof AudienceSchema>
export type Target = Static<typeof TargetSchema>
export type QuietHours = Static<typeof QuietHoursSchema>
