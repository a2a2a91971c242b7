import { Type } from '@sinclair/typebox'
import type { Db } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { rejected } from './check.ts'
import { type Outcome, result, type Skill, type TogetherCall } from './skill.ts'

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

/** The same, all or none, without waiting: at once the ids of those who are new, and later those that all have. */
export type CreateUsersAhead = (
  tx: Db,
  projectId: ProjectId,
  users: { projectUserId: unknown; properties: unknown }[]
) => { drawn: string[]; ids: Promise<string[]> } | undefined

export const UserProperties = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description: 'Names with text, a number, a boolean or null each.'
})

const schema = Type.Object({
  skill: Type.Literal('create-user'),
  projectUserId: Type.String({ description: "The project's own id of the user, 1 to 512 characters." }),
  properties: Type.Optional(UserProperties)
})

export interface UserWrites {
  createUser: CreateUser
  createUsers: CreateUsers
  createUsersAhead: CreateUsersAhead
}

export const createUserSkill = ({ createUser, createUsers, createUsersAhead }: UserWrites): Skill => ({
  id: 'create-user',
  name: 'Create or Update User',
  description: 'Creates a user, or changes the given properties of the one that has this id already.',
  tags: ['user', 'crm', 'profile'],
  examples: ['Create user ana with plan=premium and age=31'],
  schema,
  async run({ projectId, fields }) {
    const { userId } = await createUser(projectId, fields.projectUserId as string, fields.properties ?? {})
    return done(userId, fields)
  },
  async runTogether(tx, projectId, calls) {
    const made = await createUsers(tx, projectId, calls.map(userOf))
    return made.map((one, index) => (one instanceof Refusal ? rejected(one) : done(one.userId, calls[index]!.fields)))
  },
  runAhead(tx, projectId, calls) {
    const ahead = createUsersAhead(tx, projectId, calls.map(userOf))
    if (!ahead) return undefined
    const told = calls.map(({ fields }, index) => dataOf(ahead.drawn[index]!, fields))
    const settled = ahead.ids.then((ids) => {
      for (const [index, data] of told.entries()) data.userId = ids[index]!
    })
    const drawn = told.map(({ userId, projectUserId }) => ({ id: userId, projectUserId: projectUserId as string }))
    return { outcomes: told.map(completed), drawn, settled }
  }
})

const userOf = ({ fields: { projectUserId, properties = {} } }: TogetherCall) => ({ projectUserId, properties })

const dataOf = (userId: string, { projectUserId }: Record<string, unknown>) => ({ userId, projectUserId })
const completed = (data: Record<string, unknown>): Outcome => ({
  kind: 'completed',
  artifacts: [result('user-result', data)]
})
const done = (userId: string, fields: Record<string, unknown>) => completed(dataOf(userId, fields))
