import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { changesOf, recordAudit } from '../projects/projects.ts'
import { dropCallsOf, redirectCalls } from './call-store.ts'
import { laneOf } from './outcomes.ts'
import { type EventType, eventTypes } from './schemas.ts'
import { projectOwner, type Secrets } from './secrets.ts'
import * as store from './webhook-store.ts'

/** The most webhooks of a project: each costs a row for every transaction with outcomes. */
const mostWebhooks = 20

export interface NewWebhook {
  url: string
  events: EventType[]
  active?: boolean | undefined
  description?: string | null | undefined
}

/** The webhooks that a project has set up, each with a secret of its own. */
export function createRegistry(options: {
  pool: Pool
  secrets: Secrets
  refuse: (url: string, projectId: ProjectId) => Promise<string | null>
  /** Makes the waiting calls of a lane that are due. */
  wake: (tx: Db, projectId: ProjectId, lane: string) => Promise<unknown>
}) {
  const { pool, secrets, refuse, wake } = options

  async function checkUrl(projectId: ProjectId, url: string | undefined): Promise<void> {
    const reason = url === undefined ? null : await refuse(url, projectId)
    if (reason !== null) throw refusing('invalid_parameter')('url', reason)
  }

  const secretOf = async (tx: Db, projectId: ProjectId, id: string) => (await secrets.ensure(tx, projectId, id))[0]!

  return {
    /** Only this response contains the text of the secret. */
    async create(actor: string, projectId: ProjectId, wish: NewWebhook) {
      await checkUrl(projectId, wish.url)
      const at = new Date()
      const row = {
        id: newId(),
        url: wish.url,
        events: once(wish.events),
        active: wish.active ?? true,
        description: noteOf(wish.description) ?? null,
        created_at: at,
        updated_at: at
      }
      return pool.transaction(async (tx) => {
        if (!(await store.insertWebhook(tx, projectId, row, mostWebhooks)))
          throw new Refusal('conflict', `A project has at most ${mostWebhooks} webhooks.`)
        const details = { ...shown(row), name: nameOf(row) }
        await recordAudit(tx, projectId, { actor, action: 'webhook.create', target: row.id, details })
        return { ...row, secret: await secretOf(tx, projectId, row.id) }
      })
    },
    list: (projectId: ProjectId, before: string | null, limit: number) =>
      store.listWebhooks(pool, projectId, before, limit),
    async get(projectId: ProjectId, id: string): Promise<store.WebhookRow> {
      return (await store.findWebhook(pool, projectId, id)) ?? noWebhook()
    },
    /** Waiting calls go to a new url at once. */
    async change(actor: string, projectId: ProjectId, id: string, changes: store.WebhookChanges) {
      await checkUrl(projectId, changes.url)
      const wanted = {
        ...changes,
        events: changes.events && once(changes.events),
        description: noteOf(changes.description)
      }
      return pool.transaction(async (tx) => {
        const before = (await store.lockWebhook(tx, projectId, id)) ?? noWebhook()
        const row = (await store.changeWebhook(tx, projectId, id, wanted)) ?? noWebhook()
        if (changes.url !== undefined && changes.url !== before.url) {
          await redirectCalls(tx, projectId, id, changes.url)
          await wake(tx, projectId, laneOf(id))
        }
        const details = { name: nameOf(before), ...changesOf(shown(before), shown(row)) }
        await recordAudit(tx, projectId, { actor, action: 'webhook.update', target: id, details })
        return row
      })
    },
    /** Deletes the waiting calls too. */
    async remove(actor: string, projectId: ProjectId, id: string): Promise<void> {
      await pool.transaction(async (tx) => {
        const row = (await store.lockWebhook(tx, projectId, id)) ?? noWebhook()
        await store.removeWebhook(tx, projectId, id)
        await store.dropEvents(tx, projectId, id)
        await dropCallsOf(tx, projectId, id)
        await secrets.remove(tx, projectId, id)
        await recordAudit(tx, projectId, {
          actor,
          action: 'webhook.delete',
          target: id,
          details: { name: nameOf(row) }
        })
      })
    },
    /** The secret that it replaces signs for the overlap. */
    async rotateSecret(actor: string, projectId: ProjectId, id: string, overlapMs: number): Promise<string> {
      return pool.transaction(async (tx) => {
        // Locked: a rotation after a deletion would add a secret that has no webhook.
        const row = (await store.lockWebhook(tx, projectId, id)) ?? noWebhook()
        const { secret, ...ends } = await secrets.rotate(tx, projectId, id, overlapMs)
        const details = { name: nameOf(row), ...ends }
        await recordAudit(tx, projectId, { actor, action: 'webhook.rotate_secret', target: id, details })
        return secret
      })
    },
    /** The secret that signs the calls to agents' task webhooks. */
    async rotateProjectSecret(actor: string, projectId: ProjectId, overlapMs: number): Promise<string> {
      return pool.transaction(async (tx) => {
        const { secret, ...details } = await secrets.rotate(tx, projectId, projectOwner, overlapMs)
        await recordAudit(tx, projectId, { actor, action: 'webhook_secret.rotate', target: projectId, details })
        return secret
      })
    }
  }
}

const once = (events: EventType[]) => eventTypes.filter((type) => events.includes(type))
/** A url may contain a secret in its path, so the audit log omits it. */
const hostOf = (url: string) => new URL(url).origin
const shown = ({ url, events, active, description }: store.WebhookRow) => ({
  ...{ url: hostOf(url), events, active, description }
})
/** The name of a webhook in the audit log. */
export const nameOf = ({ url, description }: store.WebhookRow) => description ?? hostOf(url)
/** An empty description is none. */
const noteOf = (text: string | null | undefined) => (text?.trim() === '' ? null : text)
const noWebhook = (): never => {
  throw new Refusal('not_found', 'There is no such webhook.')
}
