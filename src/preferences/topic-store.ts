import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

export interface TopicRow {
  id: string
  name: string
  description: string
  /** Whether users who have made no choice receive it. */
  subscribed: boolean
  created_at: Date
  updated_at: Date
}

const columns = 'id, name, description, subscribed, created_at, updated_at'
// A topic that stays as it is keeps its time.
const put = statement(
  'topics.put',
  `insert into topics (project_id, id, name, description, subscribed, created_at, updated_at)
   select p.project_id, $2, $3, $4, $5, $6, $6 from projects p where p.project_id = $1 and p.deleted_at is null
   on conflict (project_id, id) do update
      set name = excluded.name, description = excluded.description, subscribed = excluded.subscribed,
          updated_at = excluded.updated_at
   returning ${columns}`
)
const all = statement('topics.all', `select ${columns} from topics where project_id = $1 order by id`)
const find = statement('topics.find', `select ${columns} from topics where project_id = $1 and id = $2`)
const lockProject = statement(
  'topics.lock_project',
  'select project_id from projects where project_id = $1 for no key update'
)
const hold = statement('topics.hold', 'select 1 from topics where project_id = $1 and id = $2 for key share')
const lock = statement('topics.lock', `select ${columns} from topics where project_id = $1 and id = $2 for update`)
const remove = statement('topics.delete', 'delete from topics where project_id = $1 and id = $2')
const defaults = statement(
  'topics.defaults',
  'select id, subscribed from topics where project_id = $1 and id = any($2::text[])'
)

/** Lets one request at a time count the topics of a project and add one. */
export const lockTopics = (tx: Db, projectId: ProjectId) => tx.query(lockProject, [projectId])

/** Returns nothing if the project is being erased. */
export const putTopic = (
  tx: Db,
  projectId: ProjectId,
  { id, name, description, subscribed }: Pick<TopicRow, 'id' | 'name' | 'description' | 'subscribed'>,
  at: Date
) => tx.one<TopicRow>(put, [projectId, id, name, description, subscribed, at])

/** By id. A project has a few hundred at most. */
export const allTopics = (db: Db, projectId: ProjectId) => db.query<TopicRow>(all, [projectId])

export const findTopic = (db: Db, projectId: ProjectId, id: string) => db.one<TopicRow>(find, [projectId, id])

/** Whether the topic exists. It cannot be deleted until the end of the transaction. */
export const holdTopic = async (tx: Db, projectId: ProjectId, id: string): Promise<boolean> =>
  (await tx.one(hold, [projectId, id])) !== undefined

export const lockTopic = (tx: Db, projectId: ProjectId, id: string) => tx.one<TopicRow>(lock, [projectId, id])

export const deleteTopic = (tx: Db, projectId: ProjectId, id: string) => tx.run(remove, [projectId, id])

/** By topic: whether users who have made no choice receive it. */
export async function topicDefaults(db: Db, projectId: ProjectId, ids: string[]): Promise<Map<string, boolean>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query<Pick<TopicRow, 'id' | 'subscribed'>>(defaults, [projectId, ids])
  return new Map(rows.map(({ id, subscribed }) => [id, subscribed]))
}
