import { Type } from '@sinclair/typebox'
import { TriggerId } from '../shapes.ts'
import { type MakeSkill, result } from '../skill.ts'
import { shownTrigger, Trigger } from '../trigger.ts'
import { cancelTriggerText } from './text.ts'

const schema = Type.Object({ skill: Type.Literal('cancel-trigger'), triggerId: TriggerId })

export const cancelTrigger: MakeSkill = (does) => ({
  id: 'cancel-trigger',
  name: 'Cancel Trigger',
  description: 'Cancels a trigger of a campaign: no further message of it is sent. Messages that were sent stay sent.',
  tags: ['campaign', 'cancel', 'stop'],
  examples: ['Cancel trigger 0199c0de-0000-7000-8000-000000000001'],
  effect: 'stop',
  rest: ['POST /triggers/{trigger_id}:cancel'],
  extension: true,
  example: { skill: 'cancel-trigger', triggerId: '0199c0de-0000-7000-8000-000000000001' },
  artifact: {
    name: 'trigger',
    example: { triggerId: '…', campaignId: 'welcome', state: 'canceled', counts: { targeted: 9, sent: 2, skipped: 7 } }
  },
  exception:
    'A trigger that has ended is `rejected`. State `canceling`: gateways still have messages of it; get-trigger shows the end.',
  text: cancelTriggerText,
  schema,
  output: Trigger,
  async run({ projectId, fields }) {
    const trigger = shownTrigger(await does.triggers.cancel(projectId, fields.triggerId as string))
    const { state, counts } = trigger
    if (state !== 'canceled' && state !== 'canceling')
      return { kind: 'rejected', reason: `The trigger is ${state}: it has sent ${counts.sent} of ${counts.targeted}.` }
    return { kind: 'completed', artifacts: [result('trigger', trigger)] }
  }
})
