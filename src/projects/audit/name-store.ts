import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** The author of changes, as people know it. */
export interface ActorName {
  actor: string
  name: string
  /** Of a token or a person; null for a key. */
  role: string | null
}

// A name of another project stays unknown, although its id is no secret. An admin of the whole installation knows all.
const reachable = '($1::text is null or project_id is null or project_id = $1)'
const find = statement(
  'names.find',
  `select 'key ' || id as actor, name, null as role from api_keys where project_id = $1 and id = any($2::uuid[])
   union all
   select 'token ' || id, name, role from tokens where ${reachable} and id = any($3::uuid[])
   union all
   select actor, name, role from former_names where ${reachable} and actor = any($4::text[])`
)
const forget = statement('names.forget', 'delete from former_names where project_id = $1')

/** Keeps the names of deleted rows. For statements that delete keys or tokens as `gone`. */
export const keepNames = (kind: 'key' | 'token', at: `$${number}`) =>
  `insert into former_names (actor, project_id, name, role, at)
   select '${kind} ' || id, project_id, name, ${kind === 'token' ? 'role' : 'null'}, ${at}::timestamptz from gone
   on conflict (actor) do nothing`

/** Without a project: for the audit log of the installation. */
export const findNames = (
  db: Db,
  projectId: ProjectId | null,
  { keys, tokens, actors }: { keys: string[]; tokens: string[]; actors: string[] }
) => db.query<ActorName>(find, [projectId, keys, tokens, actors])

/** Forgets the names of a project that is deleted. */
export const forgetNames = (db: Db, projectId: ProjectId) => db.run(forget, [projectId])
