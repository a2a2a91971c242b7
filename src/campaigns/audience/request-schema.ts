import { Type } from '@sinclair/typebox'
import { building, shownAs, unknownNames } from '../../platform/http/schema.ts'
import { maxTargets } from './request.ts'
import { mostNames } from './unknown-fields.ts'

const OwnProperties = Type.Unsafe<Record<string, unknown> | null>({
  type: ['object', 'null'],
  additionalProperties: {},
  description: 'Merged over the properties of the trigger, for this target. All targets together: at most 8 MiB.'
})
const targetFields = {
  project_user_id: Type.String(),
  device_id: Type.String(),
  user_id: Type.String(),
  properties: OwnProperties
}
export const TriggerTarget = Type.Object(
  {
    project_user_id: Type.Optional(Type.String()),
    device_id: Type.Optional(Type.String()),
    user_id: Type.Optional(Type.String({ description: "The service's own id of a user." })),
    properties: Type.Optional(OwnProperties)
  },
  { description: 'Exactly one of project_user_id, device_id and user_id.' }
)
/** More values than the properties of the trigger and of 20,000 targets usually hold. */
export const mostTriggerValues = 1_200_000
/** The handler checks targets, because a broadcast ignores them whatever they are. */
export const TriggerBody = Type.Object(
  {
    audience: Type.Optional(
      Type.Unsafe<object | null>({
        type: ['object', 'null'],
        properties: {
          broadcast: {
            type: ['boolean', 'null'],
            description: "true: everyone in the campaign's segment; targets are ignored."
          },
          targets: {
            [building]: Type.Array(Type.Object(targetFields), { maxItems: maxTargets }),
            [shownAs]: Type.Array(TriggerTarget, { maxItems: maxTargets }),
            description:
              'At most 20,000, each with exactly one of project_user_id, device_id and user_id, and with properties of its own if it needs some. Targets outside the segment receive nothing.'
          }
        },
        description: "The recipients. Absent or null: the campaign's default audience. Without targets: no recipients."
      })
    ),
    properties: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: {},
        description: 'For templates and conditions, as {{ trigger.name }}. Any JSON, at most 1 MiB.'
      })
    ),
    send_at: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description:
          'When it is sent: RFC 3339, at most 90 days ahead. Users, devices and segment are looked up then. Absent, null or past: at once.'
      })
    ),
    confirmation_id: Type.Optional(
      Type.Unsafe<unknown>({
        description:
          'Only for keys whose policy wants broadcasts to be confirmed: the id of a preview of the same request. Other keys get a warning for it.'
      })
    )
  },
  { [unknownNames]: mostNames }
)

export const triggerExample = {
  audience: { targets: [{ project_user_id: 'ana' }, { device_id: 'ana-phone' }] },
  properties: { code: 'SPRING' }
}
