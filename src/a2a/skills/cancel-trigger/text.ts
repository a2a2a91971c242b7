import { quoted } from '../../text/sentences.ts'
import { nameOf, type SkillText } from '../../text/skill-text.ts'

export const cancelTriggerText: SkillText = {
  skill: 'cancel-trigger',
  does: 'cancel triggers',
  forms: [
    {
      pattern: 'cancel [the] trigger [<triggerId>]',
      example: 'Cancel trigger 0199c0de-0000-7000-8000-000000000001'
    },
    {
      pattern: 'stop|abort [the] trigger <triggerId>',
      example: 'Stop trigger 0199c0de-0000-7000-8000-000000000001',
      because: 'A trigger that is stopped is canceled for good.'
    }
  ],
  needs: [nameOf('triggerId', 'trigger', 'id', 'What is the id of the trigger?')],
  shows: ['triggerId'],
  describe: ({ triggerId }) => `Cancel the trigger ${triggerId === undefined ? '(no id so far)' : quoted(triggerId)}.`
}
