import { Type } from '@sinclair/typebox'
import { TriggerBody } from './audience/request-schema.ts'
import { type CampaignFields, CampaignSchema } from './definition/schema.ts'
import { WinnerAnswer } from './texts/winner-schemas.ts'

/** A campaign in a request: fields with a default may be absent. */
export const CampaignBody = Type.Unsafe<unknown>({
  ...CampaignSchema,
  required: ['name'],
  description: 'A campaign, as in a campaign file.'
})
export const Answer = Type.Object({
  ...CampaignSchema.properties,
  campaign_id: Type.String(),
  version: Type.Integer({
    description: 'Increases with every change. Send it as If-Match to change only this version.'
  }),
  created_at: Type.String(),
  updated_at: Type.String(),
  winners: Type.Optional(
    Type.Array(WinnerAnswer, { description: 'Variants that all recipients get. Absent: none was chosen.' })
  ),
  next_at: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'For an active scheduled campaign, when it is read by itself: its next three times in UTC; with timezone user, as local times.'
    })
  ),
  warnings: Type.Array(Type.String(), { description: 'Parts of the campaign that probably do not do what was meant.' })
})
export const SavedAnswer = Type.Object({
  ...Answer.properties,
  result: Type.Unsafe<'created' | 'updated' | 'unchanged'>({
    type: 'string',
    enum: ['created', 'updated', 'unchanged'],
    description: 'The effect of the request. An identical campaign is not saved again.'
  })
})
export const Version = Type.Object({
  version: Type.Integer({ description: 'Increases with every change.' }),
  actor: Type.String(),
  actor_name: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the key, token or person; null if it is not known any more.'
  }),
  created_at: Type.String(),
  campaign: Type.Unsafe<CampaignFields>({
    type: 'object',
    description: 'The campaign in this version.',
    additionalProperties: {}
  })
})
export const example = {
  campaign_id: 'welcome',
  name: 'Welcome',
  type: 'api_triggered',
  status: 'active',
  segment: { attribute: 'user.plan', operator: 'equals', value: 'premium' },
  default_audience: { broadcast: true },
  message: { title: 'Hello {{ user.id }}', body: 'Your code is {{ trigger.code }}.' }
}

const Count = (description: string) => Type.Integer({ description })
export const Counts = Type.Object({
  triggers: Count('Number of triggers.'),
  targeted: Count('Messages to devices, as in a trigger.'),
  sent: Count('Accepted by a gateway.'),
  failed: Count('Refused for good, or not accepted in time.'),
  skipped: Count('Not sent on purpose.'),
  delivered: Count('Reported by apps.'),
  tapped: Count('Reported by apps.')
})
export const DraftBody = Type.Object({ campaign: CampaignBody, ...TriggerBody.properties })
export const TestBody = Type.Object({
  step: Type.Optional(Type.String({ description: 'The step that is sent. Absent: the first.' })),
  variant: Type.Optional(Type.String({ description: 'The variant that is sent. Absent: that of each user.' })),
  language: Type.Optional(Type.String({ description: 'The language that is sent. Absent: that of each device.' })),
  device_ids: Type.Array(Type.String(), { description: '1 to 20 devices.' }),
  properties: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: {},
      description: 'As in a trigger: {{ trigger.name }}.'
    })
  )
})
export const TestAnswer = Type.Object({
  delivery_results: Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: {} }), {
    description: 'One for each device, as in messages:send.'
  })
})
