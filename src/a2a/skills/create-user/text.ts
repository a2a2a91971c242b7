import { phrases, words } from '../../text/phrases.ts'
import { propertiesIn, quoted } from '../../text/sentences.ts'
import type { SkillText } from '../../text/skill-text.ts'
import { userNouns } from '../../text/words.ts'

/** Verbs for a user who exists. */
const changes = words('update change modify edit')

export const createUserText: SkillText = {
  skill: 'create-user',
  offer: { place: 1, does: 'create users', example: 'Create user ana with plan=premium.' },
  verbs: phrases('create|add|register|make|insert|upsert|set up|sign up|update|change|modify|edit'),
  verbForms: words('creating adding registering making inserting updating changing modifying editing'),
  nouns: [...userNouns].map((noun) => [noun]),
  shortcuts: phrases('new user'),
  name: {
    field: 'projectUserId',
    keys: words('id user userid user_id projectuserid project_user_id'),
    question: 'What is the id of the user?',
    isUserId: true,
    between: words('account profile')
  },
  audience: 'none',
  properties: true,
  // A change creates a user who does not exist, which may be a slip in the id.
  verbMeans: (verb) =>
    changes.has(verb)
      ? {
          note: 'A user who is not there yet is made.',
          needsProperties: 'Say what is to change, as in: plan="gold".'
        }
      : undefined,
  describe: (data) =>
    `Create the user ${data.projectUserId === undefined ? '(no id so far)' : quoted(data.projectUserId)}${propertiesIn(data)}.`
}
