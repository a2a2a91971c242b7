import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** A broadcast channel, as far as an activity that subscribes to it must know it. */
export interface ChannelRow {
  id: string
  attributes_type: string
  app: string
  environment: 'production' | 'sandbox'
  state: 'creating' | 'active' | 'deleting' | 'failed'
  apns_channel_id: string | null
  content_state: object | null
}

const find = statement(
  'live_activity_channels.to_start',
  `select id, attributes_type, app, environment, state, apns_channel_id, content_state from live_activity_channels
    where project_id = $1 and id = any($2::uuid[])`
)

export const findChannels = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.query<ChannelRow>(find, [projectId, ids])
