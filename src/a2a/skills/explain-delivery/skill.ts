import { Type } from '@sinclair/typebox'
import { checkDeviceId } from '../../../devices/devices.ts'
import type { Explained, Triggers } from '../../../triggers/triggers.ts'
import { checkProjectUserId } from '../../../users/users.ts'
import { List, Maybe, TriggerId } from '../shapes.ts'
import { type MakeSkill, result } from '../skill.ts'
import { explainDeliveryText } from './text.ts'

const schema = Type.Object({
  skill: Type.Literal('explain-delivery'),
  triggerId: TriggerId,
  projectUserId: Type.Optional(Type.String({ description: "The user, by the project's own id." })),
  deviceId: Type.Optional(Type.String({ description: 'Instead of the user: one device.' }))
})

const Gates = List(
  Type.Object({
    gate: Type.String({ description: 'project, audience, user, segment, device, rules or delivery.' }),
    passed: Type.Boolean(),
    reason: Maybe('Why not, as a word for programs; null where it was passed.'),
    message: Type.String({ description: 'The same as a sentence.' })
  }),
  'The checks in their order.'
)

const output = Type.Object({
  triggerId: Type.String(),
  projectUserId: Maybe('null: the user of the device is not known by name.'),
  state: Type.String({ description: 'The state of the trigger.' }),
  sent: Type.Boolean({ description: 'Whether a gateway accepted the message for a device.' }),
  why: Type.String({ description: 'The first check that stopped it, as a sentence; or that it was sent.' }),
  gates: Gates,
  devices: List(
    Type.Object({
      deviceId: Type.String(),
      messageId: Maybe('null: no message was written for it.'),
      state: Type.String({ description: 'The state of the message; pending: not written yet; none: there is none.' }),
      gates: Gates
    }),
    'The devices of the user, at most 100.'
  )
})

const who = ['projectUserId', 'deviceId'] as const

export const explainDelivery: MakeSkill = (does) => ({
  id: 'explain-delivery',
  name: 'Explain Delivery',
  description: 'Explains why a user or a device got the message of a trigger, or why not: each check with its reason.',
  tags: ['campaign', 'delivery', 'read'],
  examples: ['Why did user ana not get trigger 0199c0de-0000-7000-8000-000000000001?'],
  effect: 'read',
  rest: ['GET /triggers/{trigger_id}/explain'],
  extension: true,
  example: { skill: 'explain-delivery', triggerId: '0199c0de-0000-7000-8000-000000000001', projectUserId: 'ana' },
  artifact: {
    name: 'explanation',
    example: {
      triggerId: '…',
      projectUserId: 'ana',
      sent: false,
      why: 'The user is not in the segment now: age is 19, needs more than 30.'
    }
  },
  exception: 'A user or a device that does not exist is the explanation, and no refusal.',
  text: explainDeliveryText,
  schema,
  output,
  oneOf: [who],
  async run({ projectId, fields }) {
    const { triggerId, projectUserId, deviceId } = fields as Record<string, string | undefined>
    if (projectUserId !== undefined && deviceId !== undefined)
      return { kind: 'rejected', reason: `Give only one of ${who.join(' and ')}.` }
    const whose: Explained =
      deviceId === undefined
        ? { projectUserId: checkProjectUserId(projectUserId, 'projectUserId') }
        : { deviceId: checkDeviceId(deviceId, 'deviceId') }
    const found = await does.triggers.explain(projectId, triggerId!, whose)
    return { kind: 'completed', artifacts: [result('explanation', shown(found))] }
  }
})

type Found = Awaited<ReturnType<Triggers['explain']>>

function shown({ trigger_id, project_user_id, state, gates, devices }: Found) {
  const sent = devices.some((device) => device.state === 'accepted')
  const stopped = [...gates, ...devices.flatMap((device) => device.gates)].find(({ passed }) => !passed)
  return {
    triggerId: trigger_id,
    projectUserId: project_user_id,
    state,
    sent,
    why: sent ? 'A gateway accepted the message.' : (stopped?.message ?? 'No message was written for it.'),
    gates: gates.map(withoutConditions),
    devices: devices.map((device) => ({
      deviceId: device.device_id,
      messageId: device.message_id,
      state: device.state,
      gates: device.gates
    }))
  }
}

/** Its sentence names the conditions that matter. */
const withoutConditions = ({ conditions: _, ...gate }: Found['gates'][number]) => gate
