import { Type } from '@sinclair/typebox'
import { refusing } from '../platform/fields.ts'
import { decodeCursor, defaultLimit, encodeCursor, PageQuery, page, pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import type { PreferencesRoom } from './preferences.ts'
import { TopicAnswer, TopicBody } from './schemas.ts'
import type { TopicRow } from './topic-store.ts'

/** The topics of a project. */
export function topicRoutes(manage: Routes<ManageCaller, ManageAccess>, { topics }: PreferencesRoom): void {
  const path = '/projects/:project_id/topics'
  const one = `${path}/:topic`

  manage.get(
    path,
    { summary: 'List topics', access: 'viewer', query: PageQuery, answer: pageOf(TopicAnswer) },
    async ({ caller, query: { cursor, limit = defaultLimit } }) => {
      const after = cursor === undefined ? '' : decodeCursor(cursor, 1)[0]!
      const rows = (await topics.list(caller.project!.id)).filter(({ id }) => id > after)
      return page(rows, limit, ({ id }) => encodeCursor(id), responseOf)
    }
  )

  manage.get(
    one,
    { summary: 'Read a topic', access: 'viewer', answer: TopicAnswer, refusals: ['not_found'] },
    async ({ caller, params }) => responseOf(await topics.get(caller.project!.id, params.topic!))
  )

  manage.put(
    one,
    {
      operationId: 'saveProjectTopic',
      summary: 'Create or replace a topic; choices that users have made for it stay',
      access: 'editor',
      body: TopicBody,
      answer: TopicAnswer,
      refusals: ['conflict', 'invalid_parameter'],
      example: { name: 'Offers', description: 'Discounts and sales', default: 'subscribed' }
    },
    async ({ caller, params, body }) =>
      responseOf(await topics.put(caller.actor, caller.project!.id, params.topic!, body))
  )

  manage.delete(
    one,
    {
      summary: 'Delete a topic that neither a campaign nor a limit of the project uses',
      access: 'editor',
      answer: Type.Object({}),
      refusals: ['not_found', 'conflict']
    },
    async ({ caller, params }) => {
      const { id, messageLimits } = caller.project!
      if (messageLimits.some(({ topic }) => topic === params.topic))
        throw refusing('conflict')(
          'message_limits',
          'A limit of the project counts this topic. Remove the limit first.'
        )
      await topics.remove(caller.actor, id, params.topic!)
      return {}
    }
  )
}

const responseOf = ({ id, subscribed, ...topic }: TopicRow) => ({
  topic: id,
  ...topic,
  default: subscribed ? ('subscribed' as const) : ('unsubscribed' as const)
})
