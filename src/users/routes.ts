import { Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import { shownAs } from '../platform/http/schema.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import { NewUserBody, PropertiesSchema, UserProperties } from './schemas.ts'
import type { Users } from './users.ts'

const wording = { invalid: 'Project User Id must be provided' }
const fieldCodes = { project_user_id: 'invalid_project_user_id', properties: 'invalid_properties' } as const
const params = { project_user_id: "The project's own id of the user, percent-encoded." }

const ChangeBody = Type.Object({ properties: Type.Optional(PropertiesSchema) })
const RemoveBody = Type.Object({
  names: Type.Array(Type.String(), {
    maxItems: 1_000,
    description: 'Names of properties. Those that the user does not have are ignored.'
  })
})
// Each entry is checked separately, so that one bad entry does not fail the others.
const BatchBody = Type.Object({
  users: Type.Array(Type.Unsafe<unknown>({ [shownAs]: NewUserBody }), {
    maxItems: 1_000,
    description: 'As the body of POST /api/v1/users.'
  })
})
const BatchAnswer = Type.Object({
  results: Type.Array(Type.Union([UserProperties, Type.Object({ error: Type.String(), code: Type.String() })]), {
    description: 'By position.'
  })
})

/** Contract 4.1 to 4.3, and additional endpoints. */
export function userRoutes(api: Routes<ApiCaller, ApiAccess>, users: Users): void {
  for (const path of ['/users', '/users/']) {
    const hidden = path === '/users/'
    api.post(
      path,
      {
        summary: 'Create a user, or change the properties of one that exists',
        body: NewUserBody,
        maxBody: largestBody,
        fieldCodes,
        answer: UserProperties,
        wording,
        example: { project_user_id: 'ana', properties: { plan: 'premium', age: 31 } },
        direct: true,
        hidden
      },
      async ({ caller, body }) => ({
        properties: await users.put(caller.project.id, body.project_user_id, body.properties)
      })
    )
    // Contract 4.2 and 4.3: a missing id is a 400, not a path that does not exist.
    const missing = () => {
      throw new Refusal('invalid_project_user_id', 'project_user_id: must be given in the path')
    }
    api.patch(path, { summary: 'Missing id', wording, hidden: true }, missing)
    api.delete(path, { summary: 'Missing id', wording, hidden: true }, missing)
  }

  api.patch(
    '/users/:project_user_id',
    {
      summary: 'Change some properties of a user',
      params,
      body: ChangeBody,
      maxBody: largestBody,
      fieldCodes,
      bodyKind: 'optional',
      answer: UserProperties,
      wording: { ...wording, absent: 'empty' },
      example: { properties: { plan: 'free' } }
    },
    async ({ caller, params, body }) => ({
      properties: await users.update(caller.project.id, params.project_user_id, body.properties)
    })
  )

  api.delete(
    '/users/:project_user_id',
    { summary: 'Delete a user and everything that belongs to it', params, answer: Type.Object({}), wording },
    async ({ caller, params }) => {
      await users.remove(caller.project.id, params.project_user_id)
      return {}
    }
  )

  api.post(
    '/users/:project_user_id/properties::remove',
    {
      summary: 'Remove properties of a user',
      params,
      body: RemoveBody,
      answer: UserProperties,
      wording: { absent: 'empty' },
      refusals: ['not_found', 'invalid_project_user_id'],
      example: { names: ['plan', 'age'] }
    },
    async ({ caller, params, body }) => ({
      properties: await users.dropProperties(caller.project.id, params.project_user_id, body.names)
    })
  )

  api.get(
    '/users/:project_user_id',
    { summary: 'Read the properties of a user', params, answer: UserProperties },
    async ({ caller, params }) => ({
      properties: (await users.get(caller.project.id, params.project_user_id)).properties
    })
  )

  api.post(
    '/users::batch',
    {
      operationId: 'saveUsers',
      summary: 'Create or change up to 1,000 users',
      body: BatchBody,
      maxBody: largestBody,
      answer: BatchAnswer,
      example: { users: [{ project_user_id: 'ana', properties: { plan: 'premium' } }, { project_user_id: 'bo' }] }
    },
    async ({ caller, body }) => ({ results: await users.putMany(caller.project.id, body.users) })
  )
}
