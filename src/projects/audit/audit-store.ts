import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import { firstIdAt, newId, type ProjectId } from '../../platform/ids.ts'

/** A change through the management surface. Never holds a secret or a user's properties. */
export interface AuditEntry {
  actor: string
  action: string
  target: string
  details?: Record<string, unknown>
}

export interface AuditRow {
  id: string
  at: Date
  actor: string
  action: string
  target: string
  details: Record<string, unknown>
}

const insert = statement(
  'audit.insert',
  `insert into audit_log (project_id, id, at, actor, action, target, details)
   select p.project_id, $2, $3, $4, $5, $6, $7 from projects p where p.project_id = $1`
)
// Ids begin with their time.
const filtered = (more: string) =>
  `select id, at, actor, action, target, details from audit_log
    where project_id = $1 and ($2::uuid is null or id < $2) and id >= $4 and id < $5
      and ($6 = '' or starts_with(action, $6))${more}
    order by id desc limit $3`
const list = statement('audit.list', filtered(''))
const listOf = statement('audit.list_of_actor', filtered(' and actor = $7'))
// Jumps from one actor to the next by index.
const actors = statement(
  'audit.actors',
  `with recursive each (actor) as (
     (select actor from audit_log where project_id = $1 order by actor limit 1)
     union all
     select (select a.actor from audit_log a where a.project_id = $1 and a.actor > each.actor order by a.actor limit 1)
       from each where each.actor is not null
   )
   select actor from each where actor is not null limit $2`
)
const sweep = statement(
  'audit.sweep',
  `delete from audit_log where project_id = $1 and id in (
     select id from audit_log where project_id = $1 and id < $2 order by id limit 10000)`
)

/** Written in the transaction of the change itself: no change without its entry. */
export const record = (db: Db, projectId: ProjectId, { actor, action, target, details = {} }: AuditEntry) =>
  db.run(insert, [projectId, newId(), new Date(), actor, action, target, details])

export interface AuditFilter {
  from: Date | undefined
  to: Date | undefined
  actor: string | undefined
  /** The beginning of an action: `campaign`, `campaign.update`. */
  action: string | undefined
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The ids of a period: the first one, and the one after the last. */
export const idsWithin = ({ from, to }: Pick<AuditFilter, 'from' | 'to'>): [string, string] => [
  firstIdAt(from?.getTime() ?? 0),
  to ? firstIdAt(to.getTime()) : lastId
]

export function listAudit(
  db: Db,
  projectId: ProjectId,
  { actor, action = '', ...period }: AuditFilter,
  before: string | null,
  limit: number
) {
  const given = [projectId, before, limit, ...idsWithin(period), action]
  return actor === undefined ? db.query<AuditRow>(list, given) : db.query<AuditRow>(listOf, [...given, actor])
}

/** The authors of the entries of a project, as many as a person can choose from. */
export const listActors = async (db: Db, projectId: ProjectId): Promise<string[]> =>
  (await db.query<{ actor: string }>(actors, [projectId, mostActors])).map(({ actor }) => actor)

export const mostActors = 200

/** Deletes a batch of entries older than an id, and returns their number. */
export const sweepAudit = (db: Db, projectId: ProjectId, before: string) => db.run(sweep, [projectId, before])

/** The fields that a change altered, for the details of an entry: their new values, and the old ones as `before`. */
export function changesOf<Fields extends object>(old: Fields, fresh: Fields): Partial<Fields> & { before: object } {
  const names = (Object.keys(fresh) as (keyof Fields)[]).filter((name) => !isDeepStrictEqual(old[name], fresh[name]))
  const pick = (of: Fields) => Object.fromEntries(names.map((name) => [name, of[name] ?? null]))
  return { ...(pick(fresh) as Partial<Fields>), before: pick(old) }
}
