import { Type } from '@sinclair/typebox'
import type { ProjectId } from '../../platform/ids.ts'
import { result, type Skill } from './skill.ts'

/** As POST /api/v1/users; answers the service's own id of the user. */
export type CreateUser = (
  projectId: ProjectId,
  projectUserId: string,
  properties: unknown
) => Promise<{ userId: string }>

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

export const createUserSkill = (createUser: CreateUser): Skill => ({
  id: 'create-user',
  name: 'Create or Update User',
  description: 'Creates a user, or changes the given properties of the one that has this id already.',
  tags: ['user', 'crm', 'profile'],
  examples: ['Create user ana with plan=premium and age=31'],
  schema,
  repeatable: true,
  async run({ projectId, fields }) {
    const projectUserId = fields.projectUserId as string
    const { userId } = await createUser(projectId, projectUserId, fields.properties ?? {})
    return { kind: 'completed', artifacts: [result('user-result', { userId, projectUserId })] }
  }
})
