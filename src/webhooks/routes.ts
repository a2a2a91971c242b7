import { Type } from '@sinclair/typebox'
import { Refusal } from '../platform/errors.ts'
import { overlapOf } from '../platform/http/overlap.ts'
import { defaultLimit, encodeCursor, idAfter, PageQuery, page, pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { deliveryRoutes, known, wireDetail } from './delivery-routes.ts'
import {
  Active,
  DeliveryDetailAnswer,
  Description,
  Events,
  RotateSecret,
  Secret,
  Url,
  WebhookAnswer,
  webhook
} from './schemas.ts'
import type { WebhookRow } from './webhook-store.ts'
import type { Webhooks } from './webhooks.ts'

const example = { url: 'https://example.com/tidings', events: ['message.failed', 'trigger.completed'] }

/** Adds the routes for the webhooks of a project under /manage/v1. */
export function webhookRoutes(manage: Routes<ManageCaller, ManageAccess>, webhooks: Webhooks): void {
  const { registry } = webhooks
  const path = '/projects/:project_id/webhooks'
  deliveryRoutes(manage, webhooks)

  manage.post(
    path,
    {
      summary: 'Create a webhook; its secret is only in this answer',
      access: 'admin',
      refusals: ['conflict'],
      body: Type.Object({
        url: Url,
        events: Events,
        active: Type.Optional(Active),
        description: Type.Optional(Description)
      }),
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
      body: Type.Object({
        url: Type.Optional(Url),
        events: Type.Optional(Events),
        active: Type.Optional(Active),
        description: Type.Optional(Description)
      }),
      answer: WebhookAnswer,
      example: { active: false }
    },
    async ({ caller, params, body: { url, events, active, description } }) => {
      const id = known(params.webhook_id, 'webhook')
      const changes = { url, events, active, description }
      return wireWebhook(await registry.change(caller.actor, caller.project!.id, id, changes))
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
      operationId: 'rotateProjectWebhookSecret',
      summary: 'Give a webhook a new secret; the old one signs beside it until the overlap ends',
      access: 'admin',
      ...rotation
    },
    async ({ caller, params, body }) => {
      const id = known(params.webhook_id, 'webhook')
      const overlapMs = overlapOf(body.overlap)
      return { secret: await registry.rotateSecret(caller.actor, caller.project!.id, id, overlapMs) }
    }
  )

  manage.post(
    `${path}/:webhook_id([^:]+)::test`,
    {
      summary: 'Call a webhook once, with an event that says it is a test, and return its response',
      access: 'editor',
      answer: Type.Object({ delivery_id: Type.String(), delivery: DeliveryDetailAnswer })
    },
    async ({ caller, params }) => {
      const projectId = caller.project!.id
      const id = await webhooks.test(caller.actor, projectId, known(params.webhook_id, 'webhook'))
      const made = await webhooks.findCall(projectId, id)
      // The project may be erased meanwhile.
      if (!made) throw new Refusal('not_found', 'There is no such delivery.')
      return { delivery_id: id, delivery: wireDetail(made) }
    }
  )

  manage.post(
    '/projects/:project_id/webhook-secret::rotate',
    {
      operationId: 'rotateProjectTaskSecret',
      summary:
        'Give the project a new secret, which signs the calls about tasks; the old one signs beside it until the overlap ends',
      access: 'admin',
      ...rotation
    },
    async ({ caller, body }) => {
      const overlapMs = overlapOf(body.overlap)
      return { secret: await registry.rotateProjectSecret(caller.actor, caller.project!.id, overlapMs) }
    }
  )
}

/** What both routes that rotate a secret have in common. */
const rotation = {
  body: RotateSecret,
  bodyKind: 'optional',
  answer: Type.Object({ secret: Secret }),
  refusals: ['not_found', 'conflict', 'invalid_parameter'],
  example: { overlap: '24h' }
} as const

const cursorOfId = ({ id }: { id: string }) => encodeCursor(id)

const wireWebhook = ({ id, url, events, active, description, created_at, updated_at }: WebhookRow) => ({
  id,
  url,
  events,
  active,
  description,
  created_at,
  updated_at
})
