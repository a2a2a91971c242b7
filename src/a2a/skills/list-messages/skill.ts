import { Type } from '@sinclair/typebox'
import type { Messages } from '../../../messages/messages.ts'
import { knownUser } from '../known.ts'
import { Complete, List, Maybe, MaybeTime, PageSize, shortened, Time } from '../shapes.ts'
import { type MakeSkill, result } from '../skill.ts'
import { listMessagesText } from './text.ts'

const most = 100
const usual = 20

const schema = Type.Object({
  skill: Type.Literal('list-messages'),
  projectUserId: Type.Optional(Type.String({ description: "Only to this user, by the project's own id." })),
  triggerId: Type.Optional(Type.String({ description: 'Only of this trigger.' })),
  pageSize: PageSize(most, usual)
})

const output = Type.Object({
  messages: List(
    Type.Object({
      messageId: Type.String(),
      status: Type.String({ description: 'DELIVERY_RESULT_STATUS_SUCCEED, _FAILED or _PENDING.' }),
      state: Type.String({ description: 'queued, handed, unknown, accepted, failed or skipped.' }),
      failureReason: Type.String({ description: 'Why not, as [CODE] and a sentence; else empty.' }),
      projectUserId: Maybe('null: the user is anonymous.'),
      deviceId: Type.String({ description: 'Empty where there is none.' }),
      triggerId: Maybe('null: no trigger sent it.'),
      campaignId: Maybe('null: no campaign sent it.'),
      title: Maybe('The title, shortened.'),
      body: Maybe('The text, shortened.'),
      createdAt: Time(),
      deliveredAt: MaybeTime,
      tappedAt: MaybeTime
    }),
    'One entry for each device, newest first.'
  ),
  complete: Complete
})

export const listMessages: MakeSkill = (does) => ({
  id: 'list-messages',
  name: 'List Messages',
  description: 'Lists the newest messages with their outcomes: of the project, of a user or of a trigger.',
  tags: ['push', 'delivery', 'read'],
  examples: ['List messages of user ana'],
  effect: 'read',
  rest: ['GET /messages', 'GET /messages/{message_id}'],
  extension: true,
  example: { skill: 'list-messages', projectUserId: 'ana', pageSize: 5 },
  artifact: {
    name: 'messages',
    example: { messages: [{ messageId: '…', status: 'DELIVERY_RESULT_STATUS_SUCCEED' }], complete: true }
  },
  text: listMessagesText,
  schema,
  output,
  async run({ projectId, fields }) {
    const { projectUserId, triggerId, pageSize = usual } = fields as Sent
    // The list of an unknown id is empty. An agent would take that for the result of the id it meant, so the skill
    // refuses it.
    if (projectUserId !== undefined) await knownUser(does, projectId, projectUserId)
    const trigger = triggerId === undefined ? undefined : await does.triggers.get(projectId, triggerId)
    const { items, next_cursor } = await does.messages.list(projectId, {
      projectUserId,
      triggerId: trigger?.id,
      deviceId: undefined,
      campaignId: undefined,
      status: undefined,
      cursor: undefined,
      limit: pageSize
    })
    const data = { messages: items.map(shown), complete: next_cursor === null }
    return { kind: 'completed', artifacts: [result('messages', data)] }
  }
})

interface Sent {
  projectUserId?: string
  triggerId?: string
  pageSize?: number
}

const shown = (entry: Awaited<ReturnType<Messages['list']>>['items'][number]) => ({
  messageId: entry.message_id,
  status: entry.status,
  state: entry.state,
  failureReason: entry.failure_reason,
  projectUserId: entry.project_user_id,
  deviceId: entry.device_id,
  triggerId: entry.trigger_id,
  campaignId: entry.campaign_id,
  title: shortened(entry.title),
  body: shortened(entry.body),
  createdAt: entry.created_at.toISOString(),
  deliveredAt: entry.delivered_at?.toISOString() ?? null,
  tappedAt: entry.tapped_at?.toISOString() ?? null
})
