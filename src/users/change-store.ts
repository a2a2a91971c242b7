import type { Db } from '../platform/db/db.ts'
import { heldProject, statement } from '../platform/db/statement.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { indexUsers, unindexUsers } from './index-store.ts'
import type { Properties } from './properties.ts'
import { fits, type StoredUser, toUser, type UserRow } from './store.ts'

// Changes that people make, who must learn of it if a user exists already or was changed by others.

const columns = 'id, project_user_id, properties, created_at, updated_at'
const insert = statement(
  'users.insert',
  `${heldProject},
   put as (
     insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
     select project_id, $2, $3, $4, $5, $5 from project
     on conflict (project_id, project_user_id) do nothing returning ${columns}),
   indexed as (${indexUsers('put')})
   select ${columns} from put`
)
const changed = '(properties - $4::text[]) || $3::jsonb'
const change = statement(
  'users.change',
  `with changed as (
     update users set properties = ${changed}, updated_at = $5
      where project_id = $1 and project_user_id = $2 and ${fits(changed)}
        and ($6::jsonb is null or (properties @> $6 and not properties ?| $7::text[])) returning ${columns}),
   indexed as (${indexUsers('changed')}),
   unindexed as (${unindexUsers('changed', '$4::text[]')})
   select ${columns} from changed`
)

/** Undefined if the user exists already, or if the project is being erased. */
export async function insertUser(
  db: Db,
  projectId: ProjectId,
  { projectUserId, properties }: { projectUserId: string; properties: Properties },
  at: Date
): Promise<StoredUser | undefined> {
  const row = await db.one<UserRow>(insert, [projectId, newId(), projectUserId, JSON.stringify(properties), at])
  return row && toUser(row)
}

export interface PropertyChange {
  set: Properties
  remove: string[]
  /** The changed properties must have these values now; those that are not here must be absent. */
  before?: Properties | undefined
}

/** Undefined if the user does not exist, differs from `before` or would exceed the limits. */
export async function changeUser(
  db: Db,
  projectId: ProjectId,
  projectUserId: string,
  { set, remove, before }: PropertyChange,
  at: Date
): Promise<StoredUser | undefined> {
  const absent = before && [...Object.keys(set), ...remove].filter((name) => !Object.hasOwn(before, name))
  const row = await db.one<UserRow>(change, [
    projectId,
    projectUserId,
    JSON.stringify(set),
    remove,
    at,
    before ? JSON.stringify(before) : null,
    absent ?? []
  ])
  return row && toUser(row)
}
