import { Type } from '@sinclair/typebox'
import { Refusal } from '../../../platform/errors.ts'
import { type CreateUser, drawUser, maxProperties } from '../../../users/users.ts'
import { rejected } from '../check.ts'
import { type MakeSkill, type Outcome, result } from '../skill.ts'
import { spelledTarget, withTarget } from '../spellings.ts'
import { createUserText } from './text.ts'

const UserProperties = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  maxProperties,
  description: 'Names with text, a number, a boolean or null each.'
})

const schema = Type.Object({
  skill: Type.Literal('create-user'),
  projectUserId: Type.String({ description: "The project's own id of the user, 1 to 512 characters." }),
  properties: Type.Optional(UserProperties)
})

const output = Type.Object({
  userId: Type.String({ description: "The service's own id of the user." }),
  projectUserId: Type.String()
})

export const createUser: MakeSkill = (does) => ({
  id: 'create-user',
  name: 'Create or Update User',
  description: 'Creates a user, or changes the given properties of the one that has this id already.',
  tags: ['user', 'crm', 'profile'],
  examples: ['Create user ana with plan=premium and age=31'],
  effect: 'write',
  rest: ['POST /users'],
  example: { skill: 'create-user', projectUserId: 'ana', properties: { plan: 'premium', age: 31 } },
  artifact: { name: 'user-result', example: { userId: '…', projectUserId: 'ana' } },
  exception: '`properties: null` is refused.',
  text: createUserText,
  schema,
  output,
  spellings: spelledTarget,
  // Null properties stay, and are refused as POST /api/v1/users refuses them.
  settle: withTarget,
  async run({ projectId, fields }) {
    const { id } = await does.users.create(projectId, commandOf(fields))
    return done(id, fields)
  },
  async runTogether(tx, projectId, calls) {
    const commands = calls.map(({ fields }) => commandOf(fields))
    const made = await does.users.createIn(tx, projectId, commands)
    return made.map((one, index) => (one instanceof Refusal ? rejected(one) : done(one.id, calls[index]!.fields)))
  },
  foresee({ fields }) {
    const user = drawUser(commandOf(fields))
    if (!user) return undefined
    const data = { userId: user.drawn, projectUserId: user.projectUserId }
    return {
      user,
      outcome: completed(data),
      learn(id) {
        data.userId = id
      }
    }
  }
})

/** The schema has checked the types; the capability checks the rest. */
const commandOf = ({ projectUserId, properties = {} }: Record<string, unknown>) =>
  ({ projectUserId, properties }) as CreateUser

const completed = (data: Record<string, unknown>): Outcome => ({
  kind: 'completed',
  artifacts: [result('user-result', data)]
})
const done = (userId: string, { projectUserId }: Record<string, unknown>) => completed({ userId, projectUserId })
