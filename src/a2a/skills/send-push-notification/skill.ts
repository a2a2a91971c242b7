import { Type } from '@sinclair/typebox'
import { checkSendPush, type SendPush, sendPushes } from '../../../channels/channels.ts'
import type { DeliveryResult } from '../../../messages/messages.ts'
import { admitWith } from '../../../oversight/oversight.ts'
import { effectKeyOf, keyOfRun } from '../run-key.ts'
import { type MakeSkill, result } from '../skill.ts'
import { spelledTarget, withoutNull, withTarget } from '../spellings.ts'
import { sendPushText } from './text.ts'

const schema = Type.Object({
  skill: Type.Literal('send-push-notification'),
  projectUserId: Type.Optional(Type.String({ description: 'To all devices of this user, by your id.' })),
  deviceId: Type.Optional(Type.String({ description: 'To one device.' })),
  userId: Type.Optional(Type.String({ description: "To all devices of this user, by the service's id." })),
  title: Type.Optional(Type.String({ description: 'At least one of title and body is needed.' })),
  body: Type.Optional(Type.String({ description: 'The text.' })),
  imageUrl: Type.Optional(Type.String({ description: 'An http or https address.' })),
  landingUrl: Type.Optional(Type.String({ description: 'What a tap opens: an absolute address of any scheme.' }))
})

const output = Type.Object({
  totalSent: Type.Integer({ description: 'Messages that a gateway accepted.' }),
  results: Type.Array(
    Type.Object({
      messageId: Type.String(),
      status: Type.String({ description: 'DELIVERY_RESULT_STATUS_SUCCEED, _FAILED or _PENDING.' }),
      failureReason: Type.Optional(Type.String())
    })
  )
})

const who = ['projectUserId', 'deviceId', 'userId'] as const

export const sendPushNotification: MakeSkill = (does) => ({
  id: 'send-push-notification',
  name: 'Send Push Notification',
  description: 'Sends a push notification to the devices of one user, or to one device.',
  tags: ['push', 'notification', 'messaging'],
  examples: [
    'Send a push to device ana-phone with title "Hello" and body "Your order is on its way"',
    'Send a push notification to user ana saying "See you tomorrow"'
  ],
  effect: 'send',
  rest: ['POST /messages:send'],
  example: { skill: 'send-push-notification', projectUserId: 'ana', title: 'Hello', body: 'See you tomorrow' },
  artifact: {
    name: 'delivery-results',
    example: { totalSent: 1, results: [{ messageId: '…', status: 'DELIVERY_RESULT_STATUS_SUCCEED' }] }
  },
  text: sendPushText,
  schema,
  output,
  spellings: spelledTarget,
  settle: (fields) => withTarget(withoutNull(fields)),
  oneOf: [who, ['title', 'body']],
  reach: (fields) => ({ push: pushOf(fields) }),
  async run({ projectId, fields, runId, permit }) {
    const named = who.filter((name) => fields[name] !== undefined)
    if (named.length > 1) return { kind: 'rejected', reason: `Give only one of ${named.join(' and ')}.` }
    if (!fields.title && !fields.body) {
      return { kind: 'input-required', reason: 'Send the missing field: title or body.' }
    }
    const command = pushOf(fields)
    const sending = sendPushes([checkSendPush(command)])
    const { results } = await does.messages.send(projectId, sending, keyOfRun(runId, command), admitWith(permit))
    return outcomeOf(results)
  },
  effectKey: effectKeyOf,
  async undo({ projectId }, done) {
    const [part] = done.artifacts[0]!.parts as { data: { results: { messageId: string; status: string }[] } }[]
    const sent = part!.data.results
    if (!sent.some(({ status }) => status.endsWith('_PENDING'))) return done
    const ids = sent.map(({ messageId }) => messageId)
    const { results, untouched } = await does.messages.cancelSend(projectId, ids)
    return untouched
      ? { kind: 'canceled', reason: 'Canceled by request, before anything was sent.' }
      : outcomeOf(results)
  }
})

function pushOf(fields: Record<string, unknown>): SendPush {
  const { title, body, imageUrl, landingUrl } = fields
  const [named = 'projectUserId'] = who.filter((name) => fields[name] !== undefined)
  return { target: { [named]: fields[named] }, title, body, imageUrl, landingUrl } as SendPush
}

function outcomeOf(results: DeliveryResult[]) {
  const shown = results.map(({ message_id, status, additional_params }) => ({
    messageId: message_id,
    status,
    ...(additional_params?.failure_reason && { failureReason: additional_params.failure_reason })
  }))
  const totalSent = results.filter(({ status }) => status.endsWith('_SUCCEED')).length
  const artifacts = [result('delivery-results', { totalSent, results: shown })]
  const failed = results.filter(({ status }) => status.endsWith('_FAILED'))
  if (results.length === 0 || failed.length < results.length) return { kind: 'completed', artifacts } as const
  const reason = failed[0]?.additional_params?.failure_reason ?? 'It could not be delivered.'
  return reason.startsWith('[CREDENTIALS_MISSING]')
    ? ({
        kind: 'auth-required',
        reason: `${reason} Set up the gateway of this project, then say "retry" with this task's id.`
      } as const)
    : ({ kind: 'failed', reason, artifacts } as const)
}
