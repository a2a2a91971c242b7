import { Type } from '@sinclair/typebox'
import { building, unknownNames } from '../../platform/http/schema.ts'
import { maxTargets } from './request.ts'
import { mostNames } from './unknown-fields.ts'

const targetFields = { project_user_id: Type.String(), device_id: Type.String(), user_id: Type.String() }
/** Targets are judged by the handler, because a broadcast ignores them whatever they are. */
export const TriggerBody = Type.Object(
  {
    audience: Type.Optional(
      Type.Unsafe<object | null>({
        type: ['object', 'null'],
        properties: {
          broadcast: {
            type: ['boolean', 'null'],
            description: "All users that match the campaign's segment; targets are ignored."
          },
          targets: {
            [building]: Type.Array(Type.Object(targetFields), { maxItems: maxTargets }),
            description:
              'At most 20,000, each with exactly one of project_user_id, device_id and user_id. Those outside the segment get nothing.'
          }
        },
        description: "Who is to get it. Absent or null: the campaign's default audience. Without targets: nobody."
      })
    ),
    properties: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: {},
        description: 'For templates and conditions, as {{ trigger.name }}. Any JSON, at most 1 MiB.'
      })
    )
  },
  { [unknownNames]: mostNames }
)

export const triggerExample = {
  audience: { targets: [{ project_user_id: 'ana' }, { device_id: 'ana-phone' }] },
  properties: { code: 'SPRING' }
}
