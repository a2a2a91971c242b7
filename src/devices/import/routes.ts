import { Type } from '@sinclair/typebox'
import { largestBody, type Routes } from '../../platform/http/routes.ts'
import type { ApiAccess, ApiCaller } from '../../projects/projects.ts'
import type { Imports } from './import.ts'

const ImportBody = Type.Object({
  // Each entry is checked separately, so that one bad entry does not fail the others.
  users: Type.Array(Type.Unknown(), {
    maxItems: 1_000,
    description:
      'Each with project_user_id (absent: its devices belong to anonymous users), properties, preferences, created_at, last_seen_at, and up to 100 devices as in POST /api/v1/devices with created_at and last_seen_at.'
  })
})
const ImportAnswer = Type.Object({
  stored_users: Type.Integer({ description: 'Users that were stored.' }),
  stored_devices: Type.Integer({ description: 'Devices that were stored.' }),
  errors: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'The position of the user in the request.' }),
      path: Type.String({
        description:
          'devices[1].push_token: the rest of the user was stored. devices[1].properties: the rest too; the anonymous user of the device would exceed the limits, or has logged in. Otherwise none of it.'
      }),
      error: Type.String(),
      code: Type.String()
    })
  )
})

/** Moves users in from elsewhere. */
export function importRoutes(api: Routes<ApiCaller, ApiAccess>, imports: Imports): void {
  api.post(
    '/users::import',
    {
      operationId: 'importUsers',
      summary: 'Store up to 1,000 users with their devices and push tokens',
      body: ImportBody,
      maxBody: largestBody,
      answer: ImportAnswer,
      example: {
        users: [
          {
            project_user_id: 'ana',
            properties: { plan: 'premium' },
            created_at: '2024-02-01T08:00:00Z',
            devices: [{ id: 'ana-phone', platform: 'IOS', push_token: 'a1b2c3', last_seen_at: '2026-10-31T18:12:00Z' }]
          }
        ]
      }
    },
    async ({ caller, body }) => imports.run(caller.project.id, body.users)
  )
}
