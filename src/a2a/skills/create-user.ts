import { Type } from '@sinclair/typebox'
import type { Db } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { drawUser, maxProperties } from '../../users/users.ts'
import { rejected } from './check.ts'
import { type Outcome, result, type Skill, type TogetherCall } from './skill.ts'
import { withTarget } from './spellings.ts'

/** As POST /api/v1/users. Answers the service's own id of the user. */
export type CreateUser = (
  projectId: ProjectId,
  projectUserId: string,
  properties: unknown
) => Promise<{ userId: string }>

/** The same for many users in one transaction, each with its own outcome. */
export type CreateUsers = (
  tx: Db,
  projectId: ProjectId,
  users: { projectUserId: unknown; properties: unknown }[]
) => Promise<({ userId: string } | Refusal)[]>

export const UserProperties = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  maxProperties,
  description: 'Names with text, a number, a boolean or null each.'
})

/** As messages:send has it. */
export const spelledTarget = {
  target: Type.Object(
    {
      projectUserId: Type.Optional(Type.String()),
      deviceId: Type.Optional(Type.String()),
      userId: Type.Optional(Type.String())
    },
    { description: 'Instead of the fields of the same names.' }
  )
}

const schema = Type.Object({
  skill: Type.Literal('create-user'),
  projectUserId: Type.String({ description: "The project's own id of the user, 1 to 512 characters." }),
  properties: Type.Optional(UserProperties)
})

export const createUserSkill = (createUser: CreateUser, createUsers: CreateUsers): Skill => ({
  id: 'create-user',
  name: 'Create or Update User',
  description: 'Creates a user, or changes the given properties of the one that has this id already.',
  tags: ['user', 'crm', 'profile'],
  examples: ['Create user ana with plan=premium and age=31'],
  schema,
  spellings: spelledTarget,
  // Null properties stay, and are refused as POST /api/v1/users refuses them.
  settle: withTarget,
  async run({ projectId, fields }) {
    const { userId } = await createUser(projectId, fields.projectUserId as string, fields.properties ?? {})
    return done(userId, fields)
  },
  async runTogether(tx, projectId, calls) {
    const made = await createUsers(tx, projectId, calls.map(userOf))
    return made.map((one, index) => (one instanceof Refusal ? rejected(one) : done(one.userId, calls[index]!.fields)))
  },
  foresee(call) {
    const user = drawUser(userOf(call))
    if (!user) return undefined
    const told = { userId: user.drawn, projectUserId: user.projectUserId }
    return {
      user,
      outcome: completed(told),
      learn(id) {
        told.userId = id
      }
    }
  }
})

const userOf = ({ fields: { projectUserId, properties = {} } }: TogetherCall) => ({ projectUserId, properties })

const completed = (data: Record<string, unknown>): Outcome => ({
  kind: 'completed',
  artifacts: [result('user-result', data)]
})
const done = (userId: string, { projectUserId }: Record<string, unknown>) => completed({ userId, projectUserId })
