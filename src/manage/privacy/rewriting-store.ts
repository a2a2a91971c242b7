import type { Db, Pool } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { KeyCopy } from './copies-store.ts'

// Copies that tell about others too lose the user and stay.

const locking = (name: string, text: string, from: string) =>
  statement(`erasures.lock_${name}`, `select ${text} as text ${from} and id = $2 for update`)
const locks = {
  triggers: locking('trigger', 'audience::text', 'from triggers where project_id = $1'),
  webhook_calls: locking('call', 'body', 'from webhook_calls where project_id = $1'),
  webhook_events: locking('events', 'events::text', 'from webhook_events where project_id = $1'),
  // Only while a person may decide.
  approvals: locking(
    'approval',
    `'[' || command::text || ',' || facts::text || ']'`,
    `from approvals where project_id = $1 and state = 'pending'`
  )
}

/**
 * Has a row rewritten by its present text, under a lock. Two erasures at once may have read the same row: each would bring back
 * what the other removes. Returns false if there is nothing to rewrite.
 */
export const rewriteCopy = (
  pool: Pool,
  projectId: ProjectId,
  table: keyof typeof locks,
  id: string,
  rewrite: (tx: Db, text: string) => Promise<boolean>
): Promise<boolean> =>
  pool.transaction(async (tx) => {
    const row = await tx.one<{ text: string }>(locks[table], [projectId, id])
    return row !== undefined && rewrite(tx, row.text)
  })

const setTargets = statement(
  'erasures.set_targets',
  'update triggers set audience = $3 where project_id = $1 and id = $2'
)
const setAlone = statement(
  'erasures.set_alone',
  `update triggers set audience = $3, properties = '{}' where project_id = $1 and id = $2`
)
const setBody = statement('erasures.set_body', 'update webhook_calls set body = $3 where project_id = $1 and id = $2')
const clearResponses = statement(
  'erasures.clear_responses',
  `update webhook_attempts set response = '' where project_id = $1 and call_id = $2 and response <> ''`
)
const setEvents = statement(
  'erasures.set_events',
  'update webhook_events set events = $3 where project_id = $1 and id = $2'
)
const setFacts = statement('erasures.set_facts', 'update approvals set facts = $3 where project_id = $1 and id = $2')

/** Replaces the targets of a trigger. If all of them are gone, its properties were about them alone and go as well. */
export const setTriggerTargets = (db: Db, projectId: ProjectId, id: string, audience: object, alone: boolean) =>
  db.run(alone ? setAlone : setTargets, [projectId, id, JSON.stringify(audience)])

/** Replaces the body of a webhook call. What the receiver said may repeat it. */
export async function setCallBody(db: Db, projectId: ProjectId, id: string, body: string): Promise<void> {
  await db.run(setBody, [projectId, id, body])
  await db.run(clearResponses, [projectId, id])
}

export const setWaitingEvents = (db: Db, projectId: ProjectId, id: string, events: object[]) =>
  db.run(setEvents, [projectId, id, JSON.stringify(events)])

export const setApprovalFacts = (db: Db, projectId: ProjectId, id: string, facts: object) =>
  db.run(setFacts, [projectId, id, JSON.stringify(facts)])

const lockKey = statement(
  'erasures.lock_key',
  `select scope, key, answer::text as answer, work::text as work from idempotency_keys
    where project_id = $1 and scope = $2 and key = $3 for update`
)
const setKey = statement(
  'erasures.set_key',
  'update idempotency_keys set answer = $4, work = $5 where project_id = $1 and scope = $2 and key = $3'
)
/** As `rewriteCopy`. `rewrite` returns undefined if there is nothing to rewrite. */
export const rewriteKeyCopy = (
  pool: Pool,
  projectId: ProjectId,
  { scope, key }: KeyCopy,
  rewrite: (row: KeyCopy) => KeyCopy | undefined
): Promise<boolean> =>
  pool.transaction(async (tx) => {
    const row = await tx.one<KeyCopy>(lockKey, [projectId, scope, key])
    const now = row && rewrite(row)
    if (now) await tx.run(setKey, [projectId, scope, key, now.answer, now.work])
    return now !== undefined
  })
