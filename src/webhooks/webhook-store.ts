import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { EventType } from './schemas.ts'

export interface WebhookRow {
  id: string
  url: string
  events: EventType[]
  active: boolean
  description: string | null
  created_at: Date
  updated_at: Date
}

/** An event that waits to be sent. */
export interface BookedEvent {
  id: string
  type: EventType
  at: string
  data: Record<string, unknown>
}

const columns = 'id, url, events, active, description, created_at, updated_at'

const insert = statement(
  'webhooks.insert',
  `insert into webhooks (project_id, id, url, events, active, created_at, updated_at, description)
   select p.project_id, $2, $3, $4, $5, $6, $6, $8 from projects p
    where p.project_id = $1 and (select count(*) from webhooks w where w.project_id = $1) < $7`
)
const list = statement(
  'webhooks.list',
  `select ${columns} from webhooks
    where project_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`
)
const find = statement('webhooks.find', `select ${columns} from webhooks where project_id = $1 and id = $2`)
const lock = statement('webhooks.lock', `select ${columns} from webhooks where project_id = $1 and id = $2 for update`)
const change = statement(
  'webhooks.change',
  `update webhooks set url = coalesce($3, url), events = coalesce($4, events), active = coalesce($5, active), updated_at = $6,
          description = case when $7 then $8 else description end
    where project_id = $1 and id = $2
   returning ${columns}`
)
const remove = statement('webhooks.remove', 'delete from webhooks where project_id = $1 and id = $2')
const listening = statement('webhooks.listening', 'select id, events from webhooks where project_id = $1 and active')
const book = statement(
  'webhooks.book_events',
  `insert into webhook_events (project_id, id, webhook_id, events)
   select p.project_id, n.id, n.webhook_id, n.events
     from projects p cross join unnest($2::uuid[], $3::uuid[], $4::jsonb[]) as n (id, webhook_id, events)
    where p.project_id = $1`
)
const waiting = statement(
  'webhooks.waiting',
  `select w.project_id as "projectId", w.id as "webhookId" from webhooks w
    where exists (select 1 from webhook_events e where e.project_id = w.project_id and e.webhook_id = w.id)
      and ($1::text is null or (w.project_id, w.id) > ($1, $2::uuid))
    order by w.project_id, w.id limit 500`,
  { acrossProjects: 'one job makes calls of the events of all projects' }
)
const take = statement(
  'webhooks.take_events',
  `delete from webhook_events where project_id = $1 and id in (
     select id from webhook_events where project_id = $1 and webhook_id = $2 order by id limit 200)
   returning id, events`
)
// A transaction that booked events while their webhook was deleted leaves them behind.
const dropOrphans = statement(
  'webhooks.drop_orphans',
  `delete from webhook_events e
    where e.project_id = $1 and not exists (select 1 from webhooks w where w.project_id = $1 and w.id = e.webhook_id)`
)
const drop = statement('webhooks.drop_events', 'delete from webhook_events where project_id = $1 and webhook_id = $2')

/** False if the project has the most webhooks allowed, or was deleted. */
export const insertWebhook = async (db: Db, projectId: ProjectId, row: WebhookRow, most: number): Promise<boolean> =>
  (await db.run(insert, [
    ...[projectId, row.id, row.url, row.events, row.active],
    ...[row.created_at, most, row.description]
  ])) > 0

export const listWebhooks = (db: Db, projectId: ProjectId, before: string | null, limit: number) =>
  db.query<WebhookRow>(list, [projectId, before, limit])

export const findWebhook = (db: Db, projectId: ProjectId, id: string) => db.one<WebhookRow>(find, [projectId, id])

export interface WebhookChanges {
  url?: string | undefined
  events?: EventType[] | undefined
  active?: boolean | undefined
  /** Null removes it. */
  description?: string | null | undefined
}

export const changeWebhook = (db: Db, projectId: ProjectId, id: string, changes: WebhookChanges) =>
  db.one<WebhookRow>(change, [
    ...[projectId, id, changes.url ?? null, changes.events ?? null, changes.active ?? null, new Date()],
    ...[changes.description !== undefined, changes.description ?? null]
  ])

export const removeWebhook = async (db: Db, projectId: ProjectId, id: string): Promise<boolean> =>
  (await db.run(remove, [projectId, id])) > 0

/** The webhook as it is until the transaction ends: nothing else changes it meanwhile. */
export const lockWebhook = (tx: Db, projectId: ProjectId, id: string) => tx.one<WebhookRow>(lock, [projectId, id])

/** The active webhooks, with the events that they are subscribed to. */
export const activeWebhooks = (db: Db, projectId: ProjectId) =>
  db.query<Pick<WebhookRow, 'id' | 'events'>>(listening, [projectId])

export const bookEvents = (
  db: Db,
  projectId: ProjectId,
  booked: readonly { webhookId: string; events: BookedEvent[] }[]
) =>
  db.run(book, [
    projectId,
    booked.map(() => newId()),
    booked.map(({ webhookId }) => webhookId),
    booked.map(({ events }) => JSON.stringify(events))
  ])

export interface WaitingWebhook {
  projectId: ProjectId
  webhookId: string
}

/** The next webhooks behind one, or the first ones, with events that are not part of a call yet. */
export const waitingWebhooks = (db: Db, after: WaitingWebhook | undefined) =>
  db.query<WaitingWebhook>(waiting, [after?.projectId ?? null, after?.webhookId ?? null])

/** Takes a batch of the waiting events of a webhook, in order. */
export async function takeEvents(db: Db, projectId: ProjectId, webhookId: string): Promise<BookedEvent[]> {
  const rows = await db.query<{ id: string; events: BookedEvent[] }>(take, [projectId, webhookId])
  return rows.sort((one, other) => (one.id < other.id ? -1 : 1)).flatMap(({ events }) => events)
}

/** Deletes waiting events of webhooks that no longer exist. */
export const dropOrphanedEvents = (db: Db, projectId: ProjectId) => db.run(dropOrphans, [projectId])

export const dropEvents = (db: Db, projectId: ProjectId, webhookId: string) => db.run(drop, [projectId, webhookId])
