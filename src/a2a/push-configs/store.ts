import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { sealedColumn } from '../../platform/secrets/sealed.ts'
import type { DialectName } from '../model.ts'

/** The place of a webhook among those of its task. */
export interface ConfigPlace {
  created_at: Date
  id: string
}

export interface ConfigRow extends ConfigPlace {
  task_id: string
  url: string
  secrets: string | null
  dialect: DialectName
}

const columns = 'id, task_id, url, secrets, dialect, created_at'
const put = statement(
  'a2a.put_config',
  `insert into a2a_push_configs (project_id, task_id, id, url, secrets, dialect, created_at)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (project_id, task_id, id) do update
      set url = excluded.url, secrets = excluded.secrets, dialect = excluded.dialect`
)
const list = statement(
  'a2a.list_configs',
  `select ${columns} from a2a_push_configs where project_id = $1 and task_id = $2 order by created_at, id`
)
const listPage = statement(
  'a2a.list_config_page',
  `select ${columns} from a2a_push_configs
    where project_id = $1 and task_id = $2 and (created_at, id) > ($3, $4) order by created_at, id limit $5`
)
const remove = statement(
  'a2a.delete_config',
  'delete from a2a_push_configs where project_id = $1 and task_id = $2 and id = $3'
)

/** The context that seals the secrets of a row. */
export const secretsContext = (projectId: string, taskId: string, id: string) => `a2a ${projectId} ${taskId} ${id}`
sealedColumn({
  table: 'a2a_push_configs',
  column: 'secrets',
  by: ['project_id', 'task_id', 'id'],
  context: ({ project_id, task_id, id }) => secretsContext(project_id!, task_id!, id!)
})

/** A webhook that exists keeps its place. */
export const putConfig = (
  db: Db,
  projectId: ProjectId,
  { id, task_id, url, secrets, dialect, created_at }: ConfigRow
) => db.run(put, [projectId, task_id, id, url, secrets, dialect, created_at])

export const listConfigs = (db: Db, projectId: ProjectId, taskId: string) =>
  db.query<ConfigRow>(list, [projectId, taskId])

const first: ConfigPlace = { created_at: new Date(0), id: '' }

/** The webhooks behind a place, at most `limit` of them. */
export const listConfigPage = (db: Db, projectId: ProjectId, taskId: string, limit: number, after = first) =>
  db.query<ConfigRow>(listPage, [projectId, taskId, after.created_at, after.id, limit])

export const deleteConfig = (db: Db, projectId: ProjectId, taskId: string, id: string) =>
  db.run(remove, [projectId, taskId, id])
