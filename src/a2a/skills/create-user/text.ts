import { propertiesIn, quoted } from '../../text/sentences.ts'
import { nameOf, type SkillText } from '../../text/skill-text.ts'

const verb = 'create|add|register'
const noun = '[new] user|customer'

export const createUserText: SkillText = {
  skill: 'create-user',
  does: 'create users',
  forms: [
    {
      pattern: `${verb} [the] ${noun} [:] [<projectUserId>] [<properties>]`,
      example: 'Create user ana with plan=premium, age=31 and city="New York"'
    },
    {
      pattern: `${verb} [a|the] ${noun} (called | with [the] id [:]) <projectUserId> [<properties> | <separator> <pairs>]`,
      example: 'Please add a customer with the id ana@example.com and plan=premium'
    },
    { pattern: `${verb} a ${noun} [<properties>]`, example: 'Create a user' },
    {
      pattern: `${verb} a ${noun} [:] <projectUserId> [<properties>]`,
      example: 'Create a user ana',
      // Such as "create a user dashboard".
      because: 'The word after user may be its id or belong to it.'
    },
    {
      pattern: `update|change [the] user|customer [with [the] id] [<projectUserId>] <properties>`,
      example: 'Update user ana with plan=gold',
      // An update of an unknown id creates a user, and the id may be a typing error.
      because: 'A user who is not there yet is made.'
    }
  ],
  needs: [nameOf('projectUserId', 'user|customer', 'id', 'What is the id of the user? Say for example: user ana.')],
  shows: ['projectUserId', 'properties'],
  describe: (data) =>
    `Create or update the user ${data.projectUserId === undefined ? '(no id so far)' : quoted(data.projectUserId)}${propertiesIn(data)}.`
}
