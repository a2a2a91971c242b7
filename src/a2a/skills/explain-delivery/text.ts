import { quoted, targetIn } from '../../text/sentences.ts'
import { nameOf, type SkillText, target } from '../../text/skill-text.ts'

export const explainDeliveryText: SkillText = {
  skill: 'explain-delivery',
  does: 'explain who got what',
  forms: [
    {
      pattern: 'why did <recipient> [not] get|receive [the] trigger <triggerId>',
      example: 'Why did user ana not get trigger 0199c0de-0000-7000-8000-000000000001?'
    },
    {
      pattern: 'explain [the] [delivery of] [the] trigger [<triggerId>] [for|to <target>]',
      example: 'Explain trigger 0199c0de-0000-7000-8000-000000000001 for device ana-phone'
    }
  ],
  needs: [nameOf('triggerId', 'trigger', 'id', 'What is the id of the trigger?'), target],
  reads: true,
  shows: ['triggerId', 'projectUserId', 'deviceId'],
  describe: (data) =>
    `Explain the trigger ${data.triggerId === undefined ? '(no id so far)' : quoted(data.triggerId)} for ${targetIn(data)}.`
}
