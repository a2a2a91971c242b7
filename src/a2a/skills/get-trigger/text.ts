import { quoted } from '../../text/sentences.ts'
import { nameOf, type SkillText } from '../../text/skill-text.ts'

export const getTriggerText: SkillText = {
  skill: 'get-trigger',
  does: 'show triggers',
  forms: [
    {
      pattern: 'show|get [me] [the] [status of] [the] trigger [<triggerId>]',
      example: 'Show trigger 0199c0de-0000-7000-8000-000000000001'
    }
  ],
  needs: [nameOf('triggerId', 'trigger', 'id', 'What is the id of the trigger?')],
  reads: true,
  shows: ['triggerId'],
  describe: ({ triggerId }) => `Show the trigger ${triggerId === undefined ? '(no id so far)' : quoted(triggerId)}.`
}
