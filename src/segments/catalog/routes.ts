import { Type } from '@sinclair/typebox'
import type { Routes } from '../../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../../projects/projects.ts'
import { segmentLimits } from '../language.ts'
import type { Catalog } from './catalog.ts'
import { EventNamesAnswer, PropertiesAnswer } from './schemas.ts'

const path = '/projects/:project_id'

/** Routes that suggest names and values to authors of segments and messages. */
export function catalogRoutes(manage: Routes<ManageCaller, ManageAccess>, catalog: Catalog): void {
  manage.get(
    `${path}/properties`,
    {
      summary: 'List the properties that users, devices or events have, with types and frequent values, from a sample',
      access: 'viewer',
      query: Type.Object({
        of: Type.Optional(
          Type.Unsafe<'user' | 'device'>({
            type: 'string',
            enum: ['user', 'device'],
            description: 'Users, the default, or devices with the attributes that segments know.'
          })
        ),
        event: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: segmentLimits.nameLength,
            description: 'Instead: the properties of events of this name.'
          })
        )
      }),
      answer: PropertiesAnswer
    },
    ({ caller, query: { of = 'user', event } }) => catalog.properties(caller.project!.id, of, event)
  )

  manage.get(
    `${path}/event-names`,
    { summary: 'List the names of events, from a sample', access: 'viewer', answer: EventNamesAnswer },
    ({ caller }) => catalog.eventNames(caller.project!.id)
  )
}
