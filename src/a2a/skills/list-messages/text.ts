import { quoted } from '../../text/sentences.ts'
import type { SkillText } from '../../text/skill-text.ts'

export const listMessagesText: SkillText = {
  skill: 'list-messages',
  does: 'list messages',
  forms: [
    {
      pattern: 'list|show [me] [the] messages [of|for|to <user>] [of|from [the] trigger <triggerId>]',
      example: 'List messages of user ana'
    }
  ],
  needs: [],
  reads: true,
  shows: ['projectUserId', 'triggerId'],
  describe({ projectUserId, triggerId }) {
    const whose = projectUserId === undefined ? '' : ` to the user ${quoted(projectUserId)}`
    return `List the messages${whose}${triggerId === undefined ? '' : ` of the trigger ${quoted(triggerId)}`}.`
  }
}
