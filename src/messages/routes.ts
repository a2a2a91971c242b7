import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { answerOnce, idempotencyKeyOf } from '../platform/http/idempotency.ts'
import { defaultLimit, pageOf, pageQuery } from '../platform/http/paging.ts'
import { type Call, largestBody, type Routes } from '../platform/http/routes.ts'
import { saying } from '../platform/http/schema.ts'
import type { IdempotencyKey } from '../platform/idempotency.ts'
import type { ApiAccess, ApiCaller, ManageAccess, ManageCaller } from '../projects/projects.ts'
import { parseActivityChanges, parseActivityStarts, parsePushItems } from './items.ts'
import type { Delivery } from './messages.ts'
import { lastMinutes } from './minutes.ts'
import { listMessages, type MessageFilter, readMessage } from './reading.ts'
import { shownResult } from './results.ts'
import { ChangeBody, MessageAnswer, MessageEntry, MinuteEntry, ResultsAnswer, SendBody, StartBody } from './schemas.ts'
import type { Delivered } from './send.ts'

const pushWording = { invalid: 'Invalid push notification parameters' }
const activityWording = { invalid: 'Invalid live activity parameters' }

const ResultsQuery = Type.Object({
  expand: Type.Optional(
    Type.String({ description: 'devices: additional_params also tells of each device, and whether it was simulated.' })
  )
})

async function answer(
  { caller, query, request, reply }: Call<ApiCaller, (typeof ResultsQuery)['static'], unknown>,
  scope: string,
  work: (key: IdempotencyKey | undefined) => Promise<Delivered>
) {
  const key = idempotencyKeyOf(request, scope)
  if (caller.project.mode === 'simulator') reply.header('x-service-simulated', 'true')
  const { results } = await answerOnce(reply, () => work(key))
  return { delivery_results: results.map((result) => shownResult(result, query.expand === 'devices')) }
}

/** Contract 4.5 and 4.6, and what is additive beside them. */
export function deliveryRoutes(api: Routes<ApiCaller, ApiAccess>, delivery: Delivery, pool: Pool): void {
  api.post(
    '/messages::send',
    {
      summary: 'Send push notifications now',
      body: SendBody,
      maxBody: largestBody,
      checksBody: true,
      query: ResultsQuery,
      answer: ResultsAnswer,
      wording: pushWording,
      idempotent: true,
      example: {
        push_notifications: [
          { target: { project_user_id: 'ana' }, title: 'Your order is on its way', body: 'It arrives tomorrow.' }
        ]
      }
    },
    (call) => {
      const items = parsePushItems(call.body)
      return answer(call, 'messages:send', (key) => delivery.send(call.caller.project.id, items, key))
    }
  )

  api.post(
    '/live-activities::start',
    {
      summary: 'Start Live Activities',
      body: StartBody,
      maxBody: largestBody,
      checksBody: true,
      query: ResultsQuery,
      answer: ResultsAnswer,
      wording: activityWording,
      idempotent: true,
      example: {
        live_activities: [
          {
            target: { project_user_id: 'ana' },
            attributes_type: 'DeliveryAttributes',
            attributes: { order: '42' },
            content_state: { minutes: 20 }
          }
        ]
      }
    },
    (call) => {
      const items = parseActivityStarts(call.body)
      return answer(call, 'live-activities:start', (key) =>
        delivery.startActivities(call.caller.project.id, items, key)
      )
    }
  )

  for (const [action, summary] of [
    ['update', 'Change running Live Activities'],
    ['end', 'End Live Activities']
  ] as const) {
    api.post(
      `/live-activities::${action}`,
      {
        summary,
        body: ChangeBody,
        maxBody: largestBody,
        checksBody: true,
        query: ResultsQuery,
        answer: ResultsAnswer,
        wording: activityWording,
        idempotent: true,
        example: { live_activities: [{ activity_id: '3F2B', content_state: { minutes: 5 } }] }
      },
      (call) => {
        const items = parseActivityChanges(call.body)
        return answer(call, `live-activities:${action}`, (key) =>
          delivery.changeActivities(call.caller.project.id, `activity-${action}`, items, key)
        )
      }
    )
  }

  api.get(
    '/messages/:message_id',
    {
      summary: 'Read a message and what became of it on each device',
      answer: MessageAnswer,
      refusals: ['message_not_found']
    },
    ({ caller, params }) => readMessage(pool, caller.project.id, params.message_id ?? '')
  )

  api.get('/messages', listing, ({ caller, query }) => listMessages(pool, caller.project.id, filterOf(query)))
}

const ListQuery = Type.Object({
  ...pageQuery,
  project_user_id: Type.Optional(Type.String({ maxLength: 512, description: 'Of this user.' })),
  device_id: Type.Optional(Type.String({ maxLength: 255, description: 'To this device.' })),
  trigger_id: Type.Optional(Type.String({ maxLength: 255, description: 'Of this trigger.' })),
  campaign_id: Type.Optional(Type.String({ maxLength: 255, description: 'Of this campaign.' })),
  status: Type.Optional(
    Type.String({
      ...saying('must be SUCCEED, FAILED or PENDING', '^(DELIVERY_RESULT_STATUS_)?(SUCCEED|FAILED|PENDING)$'),
      description:
        'SUCCEED, FAILED or PENDING. A filtered page may hold fewer entries than its limit; go on while next_cursor is set.'
    })
  )
})
const listing = {
  summary: 'List messages, one entry for each device, newest first',
  query: ListQuery,
  answer: pageOf(MessageEntry)
}

type Query = Call<ApiCaller, (typeof ListQuery)['static'], unknown>['query']

const filterOf = (query: Query): MessageFilter => ({
  projectUserId: query.project_user_id,
  deviceId: query.device_id,
  triggerId: query.trigger_id,
  campaignId: query.campaign_id,
  status: query.status?.replace('DELIVERY_RESULT_STATUS_', '') as MessageFilter['status'],
  cursor: query.cursor,
  limit: query.limit ?? defaultLimit
})

/** What the console and the CLI see of messages. */
export function deliveryManagementRoutes(manage: Routes<ManageCaller, ManageAccess>, pool: Pool): void {
  manage.get('/projects/:project_id/messages', { ...listing, access: 'viewer' }, ({ caller, query }) =>
    listMessages(pool, caller.project!.id, filterOf(query))
  )

  manage.get(
    '/projects/:project_id/messages::minutes',
    {
      summary: 'Count how messages ended in each of the last minutes',
      access: 'viewer',
      query: Type.Object({
        last: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_440, description: 'How many minutes; 60 by default.' })
        )
      }),
      answer: Type.Object({ items: Type.Array(MinuteEntry, { description: 'Oldest first, each minute.' }) })
    },
    async ({ caller, query: { last = 60 } }) => ({ items: await lastMinutes(pool, caller.project!.id, last) })
  )
}
