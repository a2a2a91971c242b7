import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import { newId } from '../../platform/ids.ts'
import { type AuditEntry, type AuditFilter, type AuditRow, idsWithin, mostActors } from './audit-store.ts'

const insert = statement(
  'installation_audit.insert',
  'insert into installation_audit (id, at, actor, action, target, details) values ($1, $2, $3, $4, $5, $6)'
)
// Ids begin with their time.
const filtered = (more: string) =>
  `select id, at, actor, action, target, details from installation_audit
    where ($1::uuid is null or id < $1) and id >= $3 and id < $4 and ($5 = '' or starts_with(action, $5))${more}
    order by id desc limit $2`
const list = statement('installation_audit.list', filtered(''))
const listOf = statement('installation_audit.list_of_actor', filtered(' and actor = $6'))
// Jumps from one actor to the next by index.
const actors = statement(
  'installation_audit.actors',
  `with recursive each (actor) as (
     (select actor from installation_audit order by actor limit 1)
     union all
     select (select a.actor from installation_audit a where a.actor > each.actor order by a.actor limit 1)
       from each where each.actor is not null
   )
   select actor from each where actor is not null limit $1`
)
const sweep = statement(
  'installation_audit.sweep',
  'delete from installation_audit where id in (select id from installation_audit where id < $1 order by id limit 10000)'
)

/** Sign-ins and changes of the whole installation. Written in the transaction of the change itself, like `record`. */
export const recordInstallation = (db: Db, { actor, action, target, details = {} }: AuditEntry) =>
  db.run(insert, [newId(), new Date(), actor, action, target, details])

export function listInstallationAudit(
  db: Db,
  { actor, action = '', ...period }: AuditFilter,
  before: string | null,
  limit: number
) {
  const given = [before, limit, ...idsWithin(period), action]
  return actor === undefined ? db.query<AuditRow>(list, given) : db.query<AuditRow>(listOf, [...given, actor])
}

/** The authors of the entries, as many as a person can choose from. */
export const listInstallationActors = async (db: Db): Promise<string[]> =>
  (await db.query<{ actor: string }>(actors, [mostActors])).map(({ actor }) => actor)

/** Deletes a batch of entries older than an id, and returns their number. */
export const sweepInstallationAudit = (db: Db, before: string) => db.run(sweep, [before])
