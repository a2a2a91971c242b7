import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

interface Place {
  environment: string
  app: string
  id: string
}

const find = statement(
  'simulator_channels.find',
  'select storage from simulator_channels where project_id = $1 and id = $2 and environment = $3 and app = $4'
)
const insert = statement(
  'simulator_channels.insert',
  `insert into simulator_channels (project_id, id, environment, app, storage, ended_number)
   select $1, $2, $3, $4, $5::int, 0
    where (select count(*) from simulator_channels
            where project_id = $1 and environment = $3 and app = $4) < $6
      and exists (select 1 from simulators where project_id = $1)`
)
const remove = statement(
  'simulator_channels.remove',
  'delete from simulator_channels where project_id = $1 and id = $2 and environment = $3 and app = $4'
)
const list = statement(
  'simulator_channels.list',
  'select id from simulator_channels where project_id = $1 and environment = $2 and app = $3 order by id'
)

export const findChannel = (db: Db, projectId: ProjectId, { environment, app, id }: Place) =>
  db.one<{ storage: number }>(find, [projectId, id, environment, app])

/** False if the app has the most channels already. */
export const insertChannel = async (
  db: Db,
  projectId: ProjectId,
  { environment, app, id }: Place,
  storage: number,
  most: number
): Promise<boolean> => (await db.run(insert, [projectId, id, environment, app, storage, most])) > 0

export const removeChannel = async (db: Db, projectId: ProjectId, { environment, app, id }: Place): Promise<void> => {
  await db.run(remove, [projectId, id, environment, app])
}

export const listChannels = async (db: Db, projectId: ProjectId, environment: string, app: string) =>
  (await db.query<{ id: string }>(list, [projectId, environment, app])).map(({ id }) => id)
