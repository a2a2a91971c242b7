import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

// Copies of personal data that no foreign key ties to a user: each table is read in parts, in the order of its key, and
// compared as text. A person asks for this rarely, so no write pays for an index.

const part = 500
const holds = (text: string, texts = '$3') =>
  `exists (select 1 from unnest(${texts}::text[]) as n where strpos(${text}, n) > 0)`

/** A row of a part: `text` is null unless it holds one of the texts. */
export interface Copy {
  id: string
  text: string | null
  /** The state of the row, its kind or its time. */
  more: string | null
}

const first = '00000000-0000-0000-0000-000000000000'
const reading = (name: string, from: string, text: string, more: string) =>
  statement(
    `erasures.${name}`,
    `select id, case when ${holds(text)} then ${text} end as text, ${more} as more ${from}
        and id > $2 order by id limit ${part}`
  )
const reads = {
  triggers: reading(
    'read_triggers',
    'from triggers where project_id = $1',
    `coalesce(audience::text, '')`,
    'null::text'
  ),
  a2a_tasks: reading('read_tasks', 'from a2a_tasks where project_id = $1', 'content::text', 'state'),
  webhook_calls: reading('read_calls', 'from webhook_calls where project_id = $1', 'body', 'source_kind'),
  webhook_events: reading('read_events', 'from webhook_events where project_id = $1', 'events::text', 'null::text'),
  confirmations: reading(
    'read_confirmations',
    'from confirmations where project_id = $1',
    'command::text',
    'null::text'
  ),
  approvals: reading(
    'read_approvals',
    'from approvals where project_id = $1',
    `command::text || facts::text || coalesce(note, '')`,
    'state'
  ),
  audit_log: reading('read_audit', 'from audit_log where project_id = $1', 'details::text', 'at::text')
}
export type CopyTable = keyof typeof reads

/** The rows of a table that hold one of these texts. */
export async function* copiesIn(
  db: Db,
  projectId: ProjectId,
  table: CopyTable,
  texts: string[]
): AsyncGenerator<{ id: string; text: string; more: string | null }> {
  let after = first
  for (;;) {
    const rows = await db.query<Copy>(reads[table], [projectId, after, texts])
    for (const { id, text, more } of rows) if (text !== null) yield { id, text, more }
    if (rows.length < part) return
    after = rows.at(-1)!.id
  }
}

const removing = (name: string, deleteFrom: string) => statement(`erasures.${name}`, `${deleteFrom} and id = $2`)
const removes = {
  a2a_tasks: removing('remove_task', 'delete from a2a_tasks where project_id = $1'),
  webhook_calls: removing('remove_call', 'delete from webhook_calls where project_id = $1'),
  webhook_events: removing('remove_events', 'delete from webhook_events where project_id = $1'),
  confirmations: removing('remove_confirmation', 'delete from confirmations where project_id = $1'),
  approvals: removing('remove_approval', 'delete from approvals where project_id = $1')
}

export const removeCopy = (db: Db, projectId: ProjectId, table: keyof typeof removes, id: string) =>
  db.run(removes[table], [projectId, id])

export interface KeyCopy {
  scope: string
  key: string
  answer: string | null
  work: string | null
}

const readKeys = statement(
  'erasures.read_keys',
  `select scope, key, answer::text as answer, work::text as work,
          ${holds(`coalesce(answer::text, '') || work::text`)} as matches
     from idempotency_keys where project_id = $1 and (scope, key) > ($2, $4) order by scope, key limit ${part}`
)
const namedKeys = statement(
  'erasures.named_keys',
  `select count(*)::int as rows, max(expires_at) as until from idempotency_keys
    where project_id = $1 and strpos(key, $2) > 0`
)

export async function* keyCopies(db: Db, projectId: ProjectId, texts: string[]): AsyncGenerator<KeyCopy> {
  let [scope, key] = ['', '']
  for (;;) {
    const rows = await db.query<KeyCopy & { matches: boolean }>(readKeys, [projectId, scope, texts, key])
    for (const row of rows) if (row.matches) yield row
    if (rows.length < part) return
    ;({ scope, key } = rows.at(-1)!)
  }
}

/** Keys that callers made of the id of the user, and when the last of them ends. */
export const keysNamedAfter = async (db: Db, projectId: ProjectId, text: string) =>
  (await db.one<{ rows: number; until: Date | null }>(namedKeys, [projectId, text]))!

const removeSkips = statement(
  'erasures.remove_skips',
  'delete from trigger_skips where project_id = $1 and value = any($2::text[])'
)
const ofDevices = (name: string, deleteFrom: string) =>
  statement(`erasures.remove_${name}`, `${deleteFrom} and device_id = any($2::text[])`)
// What went to all listeners of a channel names the user only where a caller wrote the id into it.
const removePushes = statement(
  'erasures.remove_inbox',
  `delete from simulator_inbox where project_id = $1 and (device_id = any($2::text[]) or ${holds('item::text')})`
)
const removeChanges = statement(
  'erasures.remove_changes',
  `delete from live_activity_changes where project_id = $1 and settled_at is not null and ${holds('activity::text', '$2')}`
)
const leftChanges = statement(
  'erasures.left_changes',
  `select settled_at is null as open, count(*)::int as rows, max(coalesce(settled_at, not_after)) as last
     from live_activity_changes where project_id = $1 and ${holds('activity::text', '$2')} group by 1`
)
const simulated = {
  simulator_activities: ofDevices('activities', 'delete from simulator_activities where project_id = $1'),
  simulator_subscriptions: ofDevices('subscriptions', 'delete from simulator_subscriptions where project_id = $1'),
  simulator_phones: ofDevices('phones', 'delete from simulator_phones where project_id = $1')
}

/**
 * Rows that name a user or a device in a column of their own, or one of the texts in something that went to many; the numbers by
 * table.
 */
export async function removeNamed(
  db: Db,
  projectId: ProjectId,
  { names, deviceIds, texts }: { names: string[]; deviceIds: string[]; texts: string[] }
) {
  const gone: Record<string, number> = {
    trigger_skips: await db.run(removeSkips, [projectId, names]),
    simulator_inbox: await db.run(removePushes, [projectId, deviceIds, texts]),
    live_activity_changes: await db.run(removeChanges, [projectId, texts])
  }
  for (const [table, statement] of Object.entries(simulated))
    gone[table] = await db.run(statement, [projectId, deviceIds])
  return gone
}

/** Changes of channels that hold one of the texts: those that are settled, and those that are not. */
export const changesNaming = (db: Db, projectId: ProjectId, texts: string[]) =>
  db.query<{ open: boolean; rows: number; last: Date }>(leftChanges, [projectId, texts])

const naming = (name: string, where: string) =>
  statement(`erasures.naming_${name}`, `select count(*)::int as rows ${where}::text, $2) > 0`)
const definitions = {
  campaign_versions: naming('versions', 'from campaign_versions where project_id = $1 and strpos(definition'),
  saved_segments: naming('segments', 'from saved_segments where project_id = $1 and strpos(segment'),
  live_activity_channels: naming(
    'channels',
    'from live_activity_channels where project_id = $1 and strpos(content_state'
  )
}

/** Definitions and states of channels that name the user, by table: people wrote them, so people have to change them. */
export async function definitionsNaming(db: Db, projectId: ProjectId, text: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [table, statement] of Object.entries(definitions))
    found[table] = (await db.one<{ rows: number }>(statement, [projectId, text]))!.rows
  return found
}
