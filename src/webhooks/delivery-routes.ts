import { Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import {
  defaultLimit,
  encodeCursor,
  idAfter,
  page,
  pageOf,
  pageQuery,
  periodQuery,
  readPeriod,
  readTimeField
} from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import { isUuid } from '../platform/ids.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import type { AttemptRow, CallRow } from './call-store.ts'
import { DeliveryAnswer, DeliveryDetailAnswer, State } from './schemas.ts'
import type { Webhooks } from './webhooks.ts'

const dayMs = 24 * 3_600_000

/** Adds the routes for the deliveries to webhooks under /manage/v1. */
export function deliveryRoutes(manage: Routes<ManageCaller, ManageAccess>, webhooks: Webhooks): void {
  const path = '/projects/:project_id/webhook-deliveries'

  manage.get(
    path,
    {
      summary: 'List calls to webhooks, of outcomes and of tasks',
      access: 'editor',
      query: Type.Object({
        ...pageQuery,
        ...periodQuery,
        state: Type.Optional(State),
        webhook_id: Type.Optional(Type.String({ description: 'Only calls to this webhook.' }))
      }),
      answer: pageOf(DeliveryAnswer),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query: { cursor, limit = defaultLimit, state, webhook_id, ...times } }) => {
      const filter = { state, sourceId: webhookOf(webhook_id), ...readPeriod(times) }
      const rows = await webhooks.listCalls(caller.project!.id, filter, idAfter(cursor), limit + 1)
      return page(rows, limit, ({ id }) => encodeCursor(id), wireDelivery)
    }
  )

  manage.get(
    `${path}/:delivery_id`,
    {
      summary: 'Read a call to a webhook: its body, and each attempt with its response',
      access: 'editor',
      params: { delivery_id: 'The id of the delivery.' },
      answer: DeliveryDetailAnswer
    },
    async ({ caller, params }) =>
      wireDetail((await webhooks.findCall(caller.project!.id, known(params.delivery_id, 'delivery'))) ?? noDelivery())
  )

  manage.post(
    `${path}/:delivery_id([^:]+)::replay`,
    {
      summary: 'Make a call again, from its first attempt',
      access: 'editor',
      answer: DeliveryAnswer,
      refusals: ['conflict']
    },
    async ({ caller, params }) => {
      const id = known(params.delivery_id, 'delivery')
      const replayed = await webhooks.replay(caller.actor, caller.project!.id, id)
      if (replayed) return wireDelivery(replayed)
      if (!(await webhooks.findCall(caller.project!.id, id))) return noDelivery()
      throw new Refusal('conflict', 'The webhook of this delivery was deleted.')
    }
  )

  manage.post(
    `${path}::replay-failed`,
    {
      operationId: 'replayFailedProjectWebhookDeliveries',
      summary: 'Make failed calls again, oldest first and at most 1,000 at a time',
      access: 'editor',
      body: Type.Object({
        since: Type.Optional(
          Type.String({ description: 'Only calls that were created at this time or later. The default is a day ago.' })
        ),
        webhook_id: Type.Optional(Type.String({ description: 'Only calls to this webhook.' }))
      }),
      bodyKind: 'optional',
      answer: Type.Object({
        replayed: Type.Integer({ description: 'How many are made again. At 1,000 there may be more.' })
      }),
      refusals: ['invalid_parameter'],
      example: { since: '2026-01-31T09:30:00Z' }
    },
    async ({ caller, body: { since, webhook_id } }) => {
      const from = readTimeField('since', since) ?? new Date(Date.now() - dayMs)
      return { replayed: await webhooks.replayFailed(caller.actor, caller.project!.id, from, webhookOf(webhook_id)) }
    }
  )
}

const wireDelivery = (row: CallRow) => ({
  id: row.id,
  state: row.state,
  source: { kind: row.source_kind, id: row.source_id },
  url: row.url,
  attempts: row.attempts,
  last_status: row.last_status,
  last_error: row.last_error,
  created_at: row.created_at,
  next_at: row.state === 'pending' ? row.next_at : null,
  settled_at: row.settled_at
})

type Detail = CallRow & { body: string; expires_at: Date; made: AttemptRow[] }

export const wireDetail = (row: Detail) => ({
  ...wireDelivery(row),
  body: row.body,
  expires_at: row.state === 'pending' ? row.expires_at : null,
  made: row.made.map(({ id: _, ...attempt }) => attempt)
})

/** A text that is not an id gets the same refusal as an unknown id. */
export function known(id: string | undefined, what: string): string {
  if (id === undefined || !isUuid(id)) throw new Refusal('not_found', `There is no such ${what}.`)
  return id
}

/** The webhook that a filter names. */
function webhookOf(id: string | undefined): string | undefined {
  if (id !== undefined && !isUuid(id)) throw refusing('invalid_parameter')('webhook_id', 'must be the id of a webhook')
  return id?.toLowerCase()
}

const noDelivery = (): never => {
  throw new Refusal('not_found', 'There is no such delivery.')
}
