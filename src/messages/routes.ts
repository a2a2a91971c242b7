import { Type } from '@sinclair/typebox'
import { sendRoutes } from '../channels/channels.ts'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { answerOnce, idempotencyKeyOf } from '../platform/http/idempotency.ts'
import { defaultLimit, pageOf, pageQuery, periodQuery, readPeriod } from '../platform/http/paging.ts'
import { type Call, largestBody, type Routes } from '../platform/http/routes.ts'
import { saying } from '../platform/http/schema.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { ApiAccess, ApiCaller, ManageAccess, ManageCaller } from '../projects/projects.ts'
import { lastMinutes } from './reading/minutes-store.ts'
import { listMessages, readMessage } from './reading/reading.ts'
import type { MessageFilter } from './reading/reading-store.ts'
import { shownResult } from './reading/results.ts'
import { MessageAnswer, MessageEntry, MinuteEntry, ResultsAnswer } from './schemas.ts'
import type { AdmitSend, Send } from './send.ts'

export const ResultsQuery = Type.Object({
  expand: Type.Optional(
    Type.String({
      description: 'devices: additional_params also lists each device, and whether the message was simulated.'
    })
  )
})

/** Contract 4.5 and 4.6: each channel brings its routes. Reading messages is additive. */
export function messageRoutes(
  api: Routes<ApiCaller, ApiAccess>,
  send: Send,
  pool: Pool,
  cancel: (projectId: ProjectId, messageId: string) => Promise<boolean>,
  admitSend: (caller: ApiCaller) => AdmitSend | undefined = () => undefined
): void {
  for (const { path, scope, summary, body, invalid, example, parse } of sendRoutes)
    api.post(
      path,
      {
        summary,
        body,
        maxBody: largestBody,
        checksBody: true,
        query: ResultsQuery,
        answer: ResultsAnswer,
        wording: { invalid },
        idempotent: true,
        example
      },
      async ({ caller, body, query, request, reply }) => {
        const command = parse(body)
        const key = idempotencyKeyOf(request, scope)
        if (caller.project.mode === 'simulator') reply.header('x-service-simulated', 'true')
        const { results } = await answerOnce(reply, () => send(caller.project.id, command, key, admitSend(caller)))
        return { delivery_results: results.map((result) => shownResult(result, query.expand === 'devices')) }
      }
    )

  api.get(
    '/messages/:message_id',
    {
      summary: 'Read a message with its outcome on each device',
      answer: MessageAnswer,
      refusals: ['message_not_found']
    },
    ({ caller, params }) => readMessage(pool, caller.project.id, params.message_id ?? '')
  )

  api.post(
    '/messages/:message_id(^[\\s\\S]*?)::cancel',
    {
      summary: 'Cancel a message that waits for its send_at',
      params: { message_id: 'The id that messages:send returned.' },
      answer: MessageAnswer,
      refusals: ['message_not_found', 'conflict']
    },
    async ({ caller, params }) => {
      const { id: projectId } = caller.project
      const { trigger_id, campaign_id } = await readMessage(pool, projectId, params.message_id ?? '')
      if (campaign_id !== null || trigger_id !== null)
        throw new Refusal('conflict', 'The message belongs to a trigger: cancel that.')
      const canceled = await cancel(projectId, params.message_id!.toLowerCase())
      if (!canceled) throw new Refusal('conflict', 'The message was given to a gateway, or has ended.')
      return readMessage(pool, projectId, params.message_id!)
    }
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
const ManageQuery = Type.Object({ ...ListQuery.properties, ...periodQuery })
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

/** The routes of the console and the CLI. */
export function messageManagementRoutes(manage: Routes<ManageCaller, ManageAccess>, pool: Pool): void {
  manage.get(
    '/projects/:project_id/messages',
    { ...listing, query: ManageQuery, access: 'viewer', refusals: ['invalid_parameter'] },
    ({ caller, query: { from, to, ...query } }) =>
      listMessages(pool, caller.project!.id, { ...filterOf(query), ...readPeriod({ from, to }) })
  )

  manage.get(
    '/projects/:project_id/messages::minutes',
    {
      operationId: 'countProjectMessagesByMinute',
      summary: 'Count how messages ended in each of the last minutes',
      access: 'viewer',
      query: Type.Object({
        last: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_440, description: 'How many minutes; 60 by default.' })
        )
      }),
      answer: Type.Object({ items: Type.Array(MinuteEntry, { description: 'Oldest first, each minute.' }) })
    },
    async ({ caller, query: { last = 60 } }) => ({
      items: await pool.reading((db) => lastMinutes(db, caller.project!.id, last))
    })
  )
}
