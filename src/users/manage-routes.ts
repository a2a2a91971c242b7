import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import { pageQuery } from '../platform/http/paging.ts'
import { largestBody, type Routes, streamBody } from '../platform/http/routes.ts'
import { readJson } from '../platform/json/names.ts'
import { type ManageAccess, type ManageCaller, recordAudit } from '../projects/projects.ts'
import { importUsers } from './import.ts'
import { exportUsers, listUsers } from './listing.ts'
import { checkProperties, type Properties } from './properties.ts'
import { ImportResult, NewUserBody, PropertyChangeBody, User, UserList } from './schemas.ts'
import type { StoredUser } from './store.ts'
import type { Users } from './users.ts'

const wireUser = (user: StoredUser) => ({
  id: user.id,
  project_user_id: user.projectUserId,
  properties: user.properties,
  created_at: user.createdAt,
  updated_at: user.updatedAt
})

const mostConditions = 5
const refuseWhere = (message: string) => refusing('invalid_parameter')('where', message)

/** The wanted values of properties, out of a parameter. */
function readWhere(text: string | undefined): Properties | undefined {
  if (text === undefined || text === '') return undefined
  let where: Properties
  try {
    where = checkProperties(readJson(text))
  } catch (error) {
    const reason = error instanceof Refusal ? error.message.replace(/^properties[.:] ?/, '') : 'is not JSON'
    throw refuseWhere(`must be an object of values such as {"plan":"premium"}: ${reason}`)
  }
  const names = Object.keys(where).length
  if (names === 0 || names > mostConditions) throw refuseWhere(`must have 1 to ${mostConditions} properties`)
  return where
}

/** Endpoints for the console and the CLI beyond the contract: lists, search, import and export. */
export function userManagementRoutes(manage: Routes<ManageCaller, ManageAccess>, users: Users, pool: Pool): void {
  const path = '/projects/:project_id/users'

  manage.get(
    path,
    {
      summary: 'List or search users',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        search: Type.Optional(
          Type.String({
            maxLength: 512,
            description:
              'Part of the project_user_id, or the whole service id. A page may hold fewer entries than its limit; go on while next_cursor is set.'
          })
        ),
        where: Type.Optional(
          Type.String({
            maxLength: 4096,
            description: `Up to ${mostConditions} properties and the values that the users have, as JSON: {"plan":"premium","age":31}. At once for an indexed property, in parts for others: go on while next_cursor is set.`
          })
        )
      }),
      answer: UserList
    },
    async ({ caller, query }) => {
      const request = { ...query, where: readWhere(query.where) }
      const { users: found, nextCursor, ...progress } = await listUsers(pool, users, caller.project!.id, request)
      return { items: found.map(wireUser), next_cursor: nextCursor, ...progress }
    }
  )

  manage.post(
    path,
    {
      summary: 'Create a user whose id is new',
      access: 'editor',
      body: NewUserBody,
      maxBody: largestBody,
      refusals: ['conflict', 'properties_too_large'],
      answer: User,
      example: { project_user_id: 'bo', properties: { plan: 'premium' } }
    },
    async ({ caller, body }) =>
      wireUser(await users.createNew(caller.project!.id, body.project_user_id, body.properties))
  )

  manage.patch(
    `${path}/:project_user_id`,
    {
      summary: 'Set and remove properties of a user, unless others have changed them',
      access: 'editor',
      body: PropertyChangeBody,
      maxBody: largestBody,
      refusals: ['conflict', 'not_found', 'properties_too_large'],
      answer: User,
      example: { set: { plan: 'free' }, remove: ['age'], before: { plan: 'premium', age: 31 } }
    },
    async ({ caller, params, body: { set = {}, remove = [], before } }) =>
      wireUser(await users.change(caller.project!.id, params.project_user_id, { set, remove, before }))
  )

  manage.get(
    `${path}/:project_user_id`,
    { summary: 'Read a user', access: 'viewer', answer: User },
    async ({ caller, params }) => wireUser(await users.get(caller.project!.id, params.project_user_id))
  )

  manage.get(
    `${path}::export`,
    {
      summary: 'Stream all users, one JSON object a line',
      access: 'admin',
      answerType: 'application/x-ndjson',
      unlimited: true
    },
    async ({ caller, reply }) => {
      const projectId = caller.project!.id
      await recordAudit(pool, projectId, { actor: caller.actor, action: 'users.export', target: projectId })
      reply.type('application/x-ndjson')
      return Readable.from(exportUsers(pool, projectId), { objectMode: false })
    }
  )

  manage.post(
    `${path}::import`,
    {
      summary: 'Create or change users from a stream, one JSON object a line',
      access: 'editor',
      body: Type.String(),
      bodyKind: 'stream',
      example: '{"project_user_id":"ana","properties":{"plan":"premium"}}\n',
      answer: ImportResult,
      unlimited: true
    },
    async ({ caller, request }) => {
      const projectId = caller.project!.id
      const outcome = await importUsers(users, projectId, streamBody(request))
      const { imported, failed } = outcome
      await recordAudit(pool, projectId, {
        actor: caller.actor,
        action: 'users.import',
        target: projectId,
        details: { imported, failed }
      })
      return outcome
    }
  )
}
