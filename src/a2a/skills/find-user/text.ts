import { quoted } from '../../text/sentences.ts'
import { nameOf, type SkillText } from '../../text/skill-text.ts'

export const findUserText: SkillText = {
  skill: 'find-user',
  does: 'find users',
  forms: [
    { pattern: 'find|show|get [me] <user>', example: 'Find user ana' },
    {
      pattern: 'find|show|get [me] [the|a] user|customer [with <having>]',
      example: 'Find the user with email="ana@example.com"'
    }
  ],
  needs: [
    {
      ...nameOf('projectUserId', 'user|customer', 'id', 'What is the id of the user? Say for example: user ana.'),
      fields: ['projectUserId', 'property']
    }
  ],
  reads: true,
  shows: ['projectUserId', 'property', 'value'],
  describe({ projectUserId, property, value }) {
    if (property !== undefined) return `Find the users whose ${quoted(property)} is ${quoted(value)}.`
    return `Find the user ${projectUserId === undefined ? '(no id so far)' : quoted(projectUserId)}.`
  }
}
