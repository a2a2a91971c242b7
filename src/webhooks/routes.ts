import { Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { defaultLimit, encodeCursor, idAfter, PageQuery, page, pageOf, pageQuery } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import { isUuid } from '../platform/ids.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import type { CallRow } from './call-store.ts'
import { Active, DeliveryAnswer, Events, Secret, State, Url, WebhookAnswer, webhook } from './schemas.ts'
import type { WebhookRow } from './webhook-store.ts'
import type { Webhooks } from './webhooks.ts'

const example = { url: 'https://example.com/tidings', events: ['message.failed', 'trigger.completed'] }

/** Adds the routes for the webhooks of a project and their deliveries under /manage/v1. */
export function webhookRoutes(manage: Routes<ManageCaller, ManageAccess>, webhooks: Webhooks): void {
  const { registry } = webhooks
  const path = '/projects/:project_id/webhooks'

  manage.post(
    path,
    {
      summary: 'Create a webhook; its secret is only in this answer',
      access: 'admin',
      refusals: ['conflict'],
      body: Type.Object({ url: Url, events: Events, active: Type.Optional(Active) }),
      answer: Type.Object({ ...webhook, secret: Secret }),
      status: 201,
      example
    },
    async ({ caller, body }) => {
      const made = await registry.create(caller.actor, caller.project!.id, body)
      return { ...wireWebhook(made), secret: made.secret }
    }
  )

  manage.get(
    path,
    { summary: 'List webhooks', access: 'editor', query: PageQuery, answer: pageOf(WebhookAnswer) },
    async ({ caller, query: { cursor, limit = defaultLimit } }) =>
      page(await registry.list(caller.project!.id, idAfter(cursor), limit + 1), limit, cursorOfId, wireWebhook)
  )

  manage.get(
    `${path}/:webhook_id`,
    { summary: 'Read a webhook', access: 'editor', answer: WebhookAnswer },
    async ({ caller, params }) =>
      wireWebhook(await registry.get(caller.project!.id, known(params.webhook_id, 'webhook')))
  )

  manage.patch(
    `${path}/:webhook_id`,
    {
      summary: 'Change a webhook',
      access: 'admin',
      body: Type.Object({ url: Type.Optional(Url), events: Type.Optional(Events), active: Type.Optional(Active) }),
      answer: WebhookAnswer,
      example: { active: false }
    },
    async ({ caller, params, body: { url, events, active } }) => {
      const id = known(params.webhook_id, 'webhook')
      return wireWebhook(await registry.change(caller.actor, caller.project!.id, id, { url, events, active }))
    }
  )

  manage.delete(
    `${path}/:webhook_id`,
    { summary: 'Delete a webhook, with what waits for it', access: 'admin', answer: Type.Object({}) },
    async ({ caller, params }) => {
      await registry.remove(caller.actor, caller.project!.id, known(params.webhook_id, 'webhook'))
      return {}
    }
  )

  manage.post(
    `${path}/:webhook_id([^:]+)::rotate-secret`,
    {
      summary: 'Give a webhook a new secret; the old one signs beside it for a day',
      access: 'admin',
      answer: Type.Object({ secret: Secret })
    },
    async ({ caller, params }) => {
      const id = known(params.webhook_id, 'webhook')
      return { secret: await registry.rotateSecret(caller.actor, caller.project!.id, id) }
    }
  )

  manage.post(
    `${path}/:webhook_id([^:]+)::test`,
    {
      summary: 'Call a webhook once, with an event that says it is a test',
      access: 'editor',
      answer: Type.Object({ delivery_id: Type.String() })
    },
    async ({ caller, params }) => ({
      delivery_id: await webhooks.test(caller.actor, caller.project!.id, known(params.webhook_id, 'webhook'))
    })
  )

  manage.post(
    '/projects/:project_id/webhook-secret::rotate',
    {
      summary:
        'Give the project a new secret, which signs the calls about tasks; the old one signs beside it for a day',
      access: 'admin',
      answer: Type.Object({ secret: Secret })
    },
    async ({ caller }) => ({ secret: await registry.rotateProjectSecret(caller.actor, caller.project!.id) })
  )

  manage.get(
    '/projects/:project_id/webhook-deliveries',
    {
      summary: 'List calls to webhooks, of outcomes and of tasks',
      access: 'editor',
      query: Type.Object({ ...pageQuery, state: Type.Optional(State) }),
      answer: pageOf(DeliveryAnswer)
    },
    async ({ caller, query: { cursor, limit = defaultLimit, state } }) => {
      const rows = await webhooks.listCalls(caller.project!.id, state, idAfter(cursor), limit + 1)
      return page(rows, limit, cursorOfId, wireDelivery)
    }
  )

  manage.post(
    '/projects/:project_id/webhook-deliveries/:delivery_id([^:]+)::replay',
    {
      summary: 'Make a call again, from its first attempt',
      access: 'editor',
      answer: DeliveryAnswer
    },
    async ({ caller, params }) => {
      const id = known(params.delivery_id, 'delivery')
      const row = await webhooks.replay(caller.actor, caller.project!.id, id)
      if (!row) throw new Refusal('not_found', 'There is no such delivery.')
      return wireDelivery(row)
    }
  )
}

const cursorOfId = ({ id }: { id: string }) => encodeCursor(id)

const wireWebhook = ({ id, url, events, active, created_at, updated_at }: WebhookRow) => ({
  id,
  url,
  events,
  active,
  created_at,
  updated_at
})

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

/** A text that is not an id gets the same refusal as an unknown id. */
function known(id: string | undefined, what: string): string {
  if (id === undefined || !isUuid(id)) throw new Refusal('not_found', `There is no such ${what}.`)
  return id
}
