import { Type } from '@sinclair/typebox'
import { TriggerId } from '../shapes.ts'
import { type MakeSkill, result } from '../skill.ts'
import { shownTrigger, Trigger } from '../trigger.ts'
import { getTriggerText } from './text.ts'

const schema = Type.Object({ skill: Type.Literal('get-trigger'), triggerId: TriggerId })

export const getTrigger: MakeSkill = (does) => ({
  id: 'get-trigger',
  name: 'Get Trigger',
  description:
    'Returns how far a trigger of a campaign is: its state, and how many messages were sent, failed or skipped.',
  tags: ['campaign', 'status', 'read'],
  examples: ['Get trigger 0199c0de-0000-7000-8000-000000000001'],
  effect: 'read',
  rest: ['GET /triggers/{trigger_id}', 'GET /triggers'],
  extension: true,
  example: { skill: 'get-trigger', triggerId: '0199c0de-0000-7000-8000-000000000001' },
  artifact: {
    name: 'trigger',
    example: { triggerId: '…', campaignId: 'welcome', state: 'completed', counts: { targeted: 1, sent: 1 } }
  },
  text: getTriggerText,
  schema,
  output: Trigger,
  async run({ projectId, fields }) {
    const trigger = await does.triggers.get(projectId, fields.triggerId as string)
    return { kind: 'completed', artifacts: [result('trigger', shownTrigger(trigger))] }
  }
})
