import type { Db } from '../platform/db/db.ts'
import { asTexts, heldProject, statement, texts } from '../platform/db/statement.ts'
import { isUuid, newId, type ProjectId } from '../platform/ids.ts'
import { isOut, mergedChoices } from './choice-store.ts'
import { moveConsents } from './consent-store.ts'
import { indexUsers, unindexUsers } from './index-store.ts'
import type { Properties } from './properties.ts'
import { fits } from './store.ts'

export { lock } from './store.ts'

// Users by the service's own id, for other capabilities such as devices, which know no other id. All functions run in
// the caller's transaction.

const createAnonymousRows = statement(
  'users.create_anonymous',
  `${heldProject}
   insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
   select p.project_id, u.id, null, '{}', $3, $3 from project p cross join unnest($2::uuid[]) as u(id)`
)
const ensureRow = statement(
  'users.ensure',
  `${heldProject}
   insert into users (project_id, id, project_user_id, properties, created_at, updated_at, last_seen_at)
   select p.project_id, $2, $3, '{}', $4, $4, $4 from project p
   on conflict (project_id, project_user_id) do update set last_seen_at = excluded.last_seen_at
   returning id`
)
const mergedProperties = `a.properties <> '{}' and ${fits('a.properties || users.properties')}`
// Properties of the identified user win; anonymous ones that would exceed the limit are left out. `before` is the identified user as it was.
const absorbRow = statement(
  'users.absorb',
  `with changed as (update users
      set properties = case when ${mergedProperties} then a.properties || users.properties else users.properties end,
          choices = ${mergedChoices('a.choices', 'users.choices')},
          updated_at = $4
     from users a, users before
    where users.project_id = $1 and users.id = $3 and a.project_id = $1 and a.id = $2
      and before.project_id = $1 and before.id = $3
      and a.project_user_id is null and (a.choices is not null or ${mergedProperties})
   returning users.id, users.properties, ${isOut('a.choices')} and not ${isOut('before.choices')} as opts_out),
   indexed as (${indexUsers('changed')})
   select opts_out from changed`
)
const removeAnonymousRows = statement(
  'users.remove_anonymous',
  'delete from users where project_id = $1 and id = any($2::uuid[]) and project_user_id is null'
)
// Skips locked rows instead of waiting: the write that holds the lock marks the user as seen.
const markSeenRows = statement(
  'users.mark_seen',
  // An array and not `in`: on a table that has grown since its last analysis, the planner would scan one list for each
  // row of the other.
  `update users set last_seen_at = $3 where project_id = $1 and id = any(array(
     select id from users where project_id = $1 and id = any($2::uuid[]) for no key update skip locked))`
)
const namesOfRows = statement(
  'users.names',
  'select id, project_user_id from users where project_id = $1 and id = any($2::uuid[])'
)
const idsOfNames = statement(
  'users.ids_of_names',
  'select id, project_user_id from users where project_id = $1 and project_user_id = any($2::text[])'
)
const mergeRow = statement(
  'users.merge_by_id',
  `with changed as (update users set properties = properties || $3::jsonb, updated_at = $4
    where project_id = $1 and id = $2 and ${fits('properties || $3::jsonb')} returning id, properties),
   indexed as (${indexUsers('changed')})
   select id from changed`
)
// Only anonymous users: a named one may have changed since the values were taken.
const mergeAnonymous = statement(
  'users.merge_anonymous',
  `with changed as (update users set properties = users.properties || g.properties, updated_at = $4
     from unnest($2::uuid[], ${texts('$3')}::jsonb[]) as g(id, properties)
    where users.project_id = $1 and users.id = g.id and users.project_user_id is null
      and ${fits('users.properties || g.properties')}
   returning users.id, users.properties),
   indexed as (${indexUsers('changed')})
   select id from changed`
)
const keepTimes = statement(
  'users.keep_times',
  `update users
      set created_at = least(users.created_at, g.created_at), last_seen_at = greatest(users.last_seen_at, g.seen_at)
     from unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) as g(id, created_at, seen_at)
    where users.project_id = $1 and users.id = g.id`
)
const dropNames = statement(
  'users.drop_properties',
  `with changed as (update users set properties = properties - $3::text[], updated_at = $4
    where project_id = $1 and id = $2 returning id),
   unindexed as (${unindexUsers('changed', '$3::text[]')})
   select id from changed`
)
const held = statement(
  'users.hold',
  'select id from users where project_id = $1 and id = any($2::uuid[]) order by id for key share'
)

/** One row for each id; none if the project is being erased. */
export const createAnonymous = async (db: Db, projectId: ProjectId, ids: string[], at: Date): Promise<boolean> =>
  (await db.run(createAnonymousRows, [projectId, ids, at])) === ids.length

/** The service's id of the named user, who is created if necessary. Undefined if the project is being erased. */
export const ensure = async (db: Db, projectId: ProjectId, projectUserId: string, at: Date) =>
  (await db.one<{ id: string }>(ensureRow, [projectId, newId(), projectUserId, at]))?.id

/**
 * Merges the properties and the choices of an anonymous user into those of the identified one, with the evidence. Returns
 * whether that opts the identified user out.
 */
export async function absorb(db: Db, projectId: ProjectId, from: string, into: string, at: Date): Promise<boolean> {
  const changed = await db.one<{ opts_out: boolean }>(absorbRow, [projectId, from, into, at])
  // Also of a user without choices: a yes where yes is the default leaves nothing but its evidence.
  await moveConsents(db, projectId, from, into)
  return changed?.opts_out ?? false
}

/** Deletes only anonymous users, with their remaining rows. */
export const removeAnonymous = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.run(removeAnonymousRows, [projectId, ids])

export const markSeen = (db: Db, projectId: ProjectId, ids: string[], at: Date) =>
  db.run(markSeenRows, [projectId, ids, at])

/** Keeps users from being merged or deleted until the end of the transaction. Returns those that exist. */
export const hold = async (tx: Db, projectId: ProjectId, ids: string[]): Promise<ReadonlySet<string>> =>
  new Set((await tx.query<{ id: string }>(held, [projectId, ids])).map(({ id }) => id))

/** The project's own id of each user, by the service's id; null for an anonymous user. */
export async function namesOf(db: Db, projectId: ProjectId, ids: string[]): Promise<Map<string, string | null>> {
  const rows = await db.query<{ id: string; project_user_id: string | null }>(namesOfRows, [projectId, ids])
  return new Map(rows.map((row) => [row.id, row.project_user_id]))
}

/** The service's id of each existing user, by the project's own id. */
export async function idsOf(db: Db, projectId: ProjectId, projectUserIds: string[]): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; project_user_id: string }>(idsOfNames, [projectId, projectUserIds])
  return new Map(rows.map((row) => [row.project_user_id, row.id]))
}

/** The service's id of an existing user, by either id. */
export async function find(
  db: Db,
  projectId: ProjectId,
  { userId, projectUserId }: { userId?: string; projectUserId?: string }
): Promise<string | undefined> {
  if (projectUserId !== undefined) return (await idsOf(db, projectId, [projectUserId])).get(projectUserId)
  const [id] = userId !== undefined && isUuid(userId) ? (await namesOf(db, projectId, [userId])).keys() : []
  return id
}

/** False if the user would exceed the limits. */
export const mergeProperties = async (db: Db, projectId: ProjectId, id: string, properties: Properties, at: Date) =>
  (await db.one(mergeRow, [projectId, id, JSON.stringify(properties), at])) !== undefined

export const dropProperties = (db: Db, projectId: ProjectId, id: string, names: string[], at: Date) =>
  db.run(dropNames, [projectId, id, names, at])

/**
 * Merges properties into anonymous users. One that would exceed the limits keeps its own, as named users do. Returns the
 * users whose properties were merged.
 */
export async function mergePropertiesOf(
  db: Db,
  projectId: ProjectId,
  given: ReadonlyMap<string, Properties>,
  at: Date
): Promise<ReadonlySet<string>> {
  if (given.size === 0) return new Set()
  const values = [projectId, [...given.keys()], asTexts([...given.values()]), at]
  return new Set((await db.query<{ id: string }>(mergeAnonymous, values)).map(({ id }) => id))
}

export interface Times {
  createdAt: Date | undefined
  lastSeenAt: Date | undefined
}

/** Of the times that are given and those that are stored, keeps the earlier creation and the later sighting. */
export async function setTimes(db: Db, projectId: ProjectId, given: ReadonlyMap<string, Times>) {
  if (given.size === 0) return
  const created = [...given.values()].map(({ createdAt }) => createdAt ?? null)
  const seen = [...given.values()].map(({ lastSeenAt }) => lastSeenAt ?? null)
  await db.run(keepTimes, [projectId, [...given.keys()], created, seen])
}
