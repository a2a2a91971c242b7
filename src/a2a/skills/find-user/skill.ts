import { Type } from '@sinclair/typebox'
import type { Devices } from '../../../devices/devices.ts'
import type { ProjectId } from '../../../platform/ids.ts'
import type { PropertyValue, StoredUser } from '../../../users/users.ts'
import { askFor } from '../check.ts'
import { knownUser } from '../known.ts'
import { Complete, List, MaybeTime, ProjectUserId, Time } from '../shapes.ts'
import { type MakeSkill, result } from '../skill.ts'
import { findUserText } from './text.ts'

const mostUsers = 10
const mostDevices = 20
/** The most bytes of properties of all users together. More would fill the context of the agent's model and add little. */
const mostPropertyBytes = 64 * 1024

const schema = Type.Object({
  skill: Type.Literal('find-user'),
  projectUserId: Type.Optional(Type.String({ description: "The project's own id of the user." })),
  property: Type.Optional(Type.String({ minLength: 1, description: 'Instead of the id: the name of a property.' })),
  value: Type.Optional(
    Type.Unsafe<PropertyValue>({
      type: ['string', 'number', 'boolean'],
      description: 'With property: its exact value, of the same type.'
    })
  )
})

const output = Type.Object({
  users: List(
    Type.Object({
      userId: Type.String({ description: "The service's own id of the user." }),
      projectUserId: ProjectUserId,
      properties: Type.Unsafe<Record<string, unknown>>({
        type: ['object', 'null'],
        description: 'null: left out, because the properties of the users before fill the answer.'
      }),
      createdAt: Time(),
      updatedAt: Time(),
      devices: List(
        Type.Object({
          deviceId: Type.String(),
          platform: Type.String({ description: 'IOS, ANDROID or WEB.' }),
          reachable: Type.Boolean({ description: 'Whether it has a push token and the user allows pushes.' }),
          lastSeenAt: MaybeTime
        }),
        `The newest devices, at most ${mostDevices}.`
      )
    }),
    `At most ${mostUsers}.`
  ),
  complete: Complete
})

export const findUser: MakeSkill = (does) => ({
  id: 'find-user',
  name: 'Find User',
  description: 'Returns a user by its id, or the users that have exactly a value of a property, with their devices.',
  tags: ['user', 'crm', 'profile', 'read'],
  examples: ['Find user ana', 'Find the user with email="ana@example.com"'],
  effect: 'read',
  rest: ['GET /users/{project_user_id}'],
  extension: true,
  example: { skill: 'find-user', property: 'email', value: 'ana@example.com' },
  artifact: {
    name: 'user',
    example: { users: [{ userId: '…', projectUserId: 'ana', properties: { plan: 'premium' } }], complete: true }
  },
  exception: 'A property that no user has gives an empty list; an id that no user has is `rejected`.',
  text: findUserText,
  schema,
  output,
  oneOf: [['projectUserId', 'property']],
  async run({ projectId, fields }) {
    const { projectUserId, property, value } = fields as Sent
    if (property === undefined) {
      const user = await knownUser(does, projectId, projectUserId)
      return done([await shown(does.devices, projectId, user)], true)
    }
    if (projectUserId !== undefined) return { kind: 'rejected', reason: 'Give only one of projectUserId and property.' }
    if (value === undefined) return { kind: 'input-required', reason: askFor(['value']) }
    const found = await does.users.withProperty(projectId, { name: property, value, limit: mostUsers })
    const users = []
    for (const user of found.users) users.push(await shown(does.devices, projectId, user))
    return done(users, found.complete)
  }
})

interface Sent {
  projectUserId?: string
  property?: string
  value?: PropertyValue
}

async function shown(devices: Pick<Devices, 'ofUser'>, projectId: ProjectId, user: StoredUser) {
  const own = await devices.ofUser(projectId, user.id, mostDevices)
  return {
    userId: user.id,
    projectUserId: user.projectUserId,
    properties: user.properties as StoredUser['properties'] | null,
    createdAt: user.createdAt.toISOString(),
    updatedAt: user.updatedAt.toISOString(),
    devices: own.map((device) => ({
      deviceId: device.id,
      platform: device.platform,
      reachable: device.push_permission && device.token !== null && device.dead_since === null,
      lastSeenAt: device.last_seen_at?.toISOString() ?? null
    }))
  }
}

function done(users: Awaited<ReturnType<typeof shown>>[], complete: boolean) {
  let bytes = 0
  for (const user of users) {
    bytes += JSON.stringify(user.properties).length
    if (bytes > mostPropertyBytes && user !== users[0]) user.properties = null
  }
  return { kind: 'completed' as const, artifacts: [result('user', { users, complete })] }
}
