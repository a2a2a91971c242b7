import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import type { ProjectId } from '../platform/ids.ts'
import { changesOf, recordAudit } from '../projects/projects.ts'
import * as store from './topic-store.ts'

/** The ids of some campaigns that use a topic. */
export type UsersOfTopic = (tx: Db, projectId: ProjectId, topic: string) => Promise<string[]>

export type Topics = ReturnType<typeof createTopics>

export interface TopicFields {
  name: string
  description?: string | undefined
  default?: 'subscribed' | 'unsubscribed' | undefined
}

/** A user reads the list in the settings of an app. */
const mostTopics = 200

/** The topics of projects: kinds of messages that users can refuse. */
export function createTopics({ pool, campaignsOf }: { pool: Pool; campaignsOf: UsersOfTopic }) {
  return {
    /** All topics of a project, by id. */
    list: (projectId: ProjectId) => store.allTopics(pool, projectId),

    async get(projectId: ProjectId, topic: string): Promise<store.TopicRow> {
      const row = await store.findTopic(pool, projectId, checkTopic(topic))
      if (!row) throw noTopic(topic)
      return row
    },

    /** Creates or replaces a topic. Choices that users have made for it stay. */
    put: (actor: string, projectId: ProjectId, topic: string, fields: TopicFields): Promise<store.TopicRow> => {
      const id = checkTopic(topic)
      const { name, description = '', default: byDefault = 'subscribed' } = fields
      return pool.transaction(async (tx) => {
        await store.lockTopics(tx, projectId)
        const topics = await store.allTopics(tx, projectId)
        const before = topics.find((one) => one.id === id)
        if (!before && topics.length >= mostTopics)
          throw new Refusal('conflict', `The project has ${mostTopics} topics already, the most that it can have.`)
        const wanted = { id, name, description, subscribed: byDefault === 'subscribed' }
        if (before && Object.entries(wanted).every(([field, value]) => before[field as keyof typeof wanted] === value))
          return before
        const row = await store.putTopic(tx, projectId, wanted, new Date())
        if (!row) throw new Refusal('not_found', 'The project is being erased.')
        const action = before ? 'topic.update' : 'topic.create'
        const short = (topic: { name: string; description: string; subscribed: boolean }) => ({
          ...{ name: topic.name, description: topic.description },
          default: topic.subscribed ? 'subscribed' : 'unsubscribed'
        })
        const changes = before && changesOf(short(before), short(wanted))
        const details = { default: byDefault, ...changes, name }
        await recordAudit(tx, projectId, { actor, action, target: id, details })
        return row
      })
    },

    /** Deletes a topic that no campaign uses. The choices of users stay: a topic of the same id finds them again. */
    remove: (actor: string, projectId: ProjectId, topic: string): Promise<void> =>
      pool.transaction(async (tx) => {
        const row = await store.lockTopic(tx, projectId, checkTopic(topic))
        if (!row) throw noTopic(topic)
        const campaigns = await campaignsOf(tx, projectId, topic)
        if (campaigns.length > 0) throw inUse(topic, campaigns)
        await store.deleteTopic(tx, projectId, topic)
        await recordAudit(tx, projectId, { actor, action: 'topic.delete', target: topic, details: { name: row.name } })
      })
  }
}

function checkTopic(topic: string): string {
  if (!/^[a-z0-9_-]{1,64}$/.test(topic))
    throw refusing('invalid_parameter')('topic', 'must be 1 to 64 of a to z, digits, _ and -')
  return topic
}

const noTopic = (topic: string) => new Refusal('not_found', `There is no topic ${topic}.`)

const namedAtMost = 10

function inUse(topic: string, campaigns: string[]): Refusal {
  const named = campaigns.slice(0, namedAtMost)
  const more = campaigns.length > namedAtMost ? ' and more' : ''
  return new Refusal(
    'conflict',
    `Campaigns use the topic ${topic}: ${named.join(', ')}${more}. Give them another one, or archive them.`,
    named.map((path) => ({ path, message: `uses the topic ${topic}` }))
  )
}
