import type { Retries } from '../messages/messages.ts'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

export interface ChannelRow {
  id: string
  attributes_type: string
  app: string
  environment: 'production' | 'sandbox'
  stored: boolean
  state: 'creating' | 'active' | 'deleting' | 'failed'
  apns_channel_id: string | null
  before: string[] | null
  retries: Retries
  reason: string | null
  reason_message: string | null
  content_state: object | null
  /** pg returns a bigint as text. */
  last_timestamp: string
  handed_at: Date | null
  created_at: Date
  updated_at: Date
}

const columns = `id, attributes_type, app, environment, stored, state, apns_channel_id, before, retries, reason,
  reason_message, content_state, last_timestamp, handed_at, created_at, updated_at`

const insert = statement(
  'live_activity_channels.insert',
  `insert into live_activity_channels (project_id, id, attributes_type, app, environment, stored, state, retries,
     last_timestamp, last_number, created_at, updated_at)
   select p.project_id, $2, $3, $4, $5, $6, 'creating', '{}', 0, 0, $7, $7
     from projects p where p.project_id = $1 and p.deleted_at is null`
)
const find = statement(
  'live_activity_channels.find',
  `select ${columns} from live_activity_channels where project_id = $1 and id = $2`
)
const lock = statement(
  'live_activity_channels.lock',
  `select ${columns} from live_activity_channels where project_id = $1 and id = $2 for no key update`
)
const list = statement(
  'live_activity_channels.list',
  `select ${columns} from live_activity_channels
    where project_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`
)
const oldestCreating = statement(
  'live_activity_channels.oldest_creating',
  `select ${columns} from live_activity_channels
    where project_id = $1 and environment = $2 and app = $3 and state = 'creating' order by id limit 1`
)
const setBefore = statement(
  'live_activity_channels.set_before',
  `update live_activity_channels set before = $3, updated_at = $4
    where project_id = $1 and id = $2 and state = 'creating'`
)
const activate = statement(
  'live_activity_channels.activate',
  `update live_activity_channels
      set state = 'active', apns_channel_id = $3, before = null, reason = null, reason_message = null, updated_at = $4
    where project_id = $1 and id = $2 and state = 'creating'`
)
const postpone = statement(
  'live_activity_channels.postpone',
  `update live_activity_channels set retries = $3, reason = $4, reason_message = $5
    where project_id = $1 and id = $2`
)
const fail = statement(
  'live_activity_channels.fail',
  `update live_activity_channels
      set state = 'failed', before = null, reason = $3, reason_message = $4, updated_at = $5
    where project_id = $1 and id = $2 and state = 'creating'`
)
const beginRemoval = statement(
  'live_activity_channels.begin_removal',
  `update live_activity_channels set state = 'deleting', reason = null, reason_message = null, updated_at = $3
    where project_id = $1 and id = $2 and state = 'active'`
)
const remove = statement(
  'live_activity_channels.remove',
  'delete from live_activity_channels where project_id = $1 and id = $2'
)
const known = statement(
  'live_activity_channels.known',
  'select apns_channel_id from live_activity_channels where apns_channel_id = any($1::text[])',
  { acrossProjects: 'two projects may use one app, and a channel of one must not be taken for an orphan of the other' }
)
const sweepFailed = statement(
  'live_activity_channels.sweep_failed',
  `delete from live_activity_channels where project_id = $1 and state = 'failed' and updated_at < $2`
)
const erase = statement(
  'live_activity_channels.erase_window',
  `delete from live_activity_channels where project_id = $1 and id in (
     select id from live_activity_channels where project_id = $1 limit 500)`
)
const openOnes = statement(
  'live_activity_channels.open',
  `select c.project_id, c.id, c.app, c.environment, c.state from live_activity_channels c
     join projects p on p.project_id = c.project_id and p.deleted_at is null and p.paused_at is null
    where (c.state in ('creating', 'deleting') and c.updated_at < $1)
       or (c.project_id, c.id) in (
            select project_id, channel_id from live_activity_changes where settled_at is null and created_at < $1)
    limit 1000`,
  { acrossProjects: 'the sweeper finds channels whose job was lost' }
)
const openOfProject = statement(
  'live_activity_channels.open_of_project',
  `select project_id, id, app, environment, state from live_activity_channels
    where project_id = $1 and (state in ('creating', 'deleting') or id in (
            select channel_id from live_activity_changes where project_id = $1 and settled_at is null))`
)

export interface NewChannel {
  id: string
  attributesType: string
  app: string
  environment: 'production' | 'sandbox'
  stored: boolean
}

/** False if the project is being erased. */
export const insertChannel = async (db: Db, projectId: ProjectId, made: NewChannel, at: Date): Promise<boolean> => {
  const { id, attributesType, app, environment, stored } = made
  return (await db.run(insert, [projectId, id, attributesType, app, environment, stored, at])) > 0
}

export const findChannel = (db: Db, projectId: ProjectId, id: string) => db.one<ChannelRow>(find, [projectId, id])

/** Locks the row until the transaction ends: changes of a channel are numbered one after the other. */
export const lockChannel = (db: Db, projectId: ProjectId, id: string) => db.one<ChannelRow>(lock, [projectId, id])

export const listChannels = (db: Db, projectId: ProjectId, before: string | null, limit: number) =>
  db.query<ChannelRow>(list, [projectId, before, limit])

export const findOldestCreating = (db: Db, projectId: ProjectId, environment: string, app: string) =>
  db.one<ChannelRow>(oldestCreating, [projectId, environment, app])

export const storeBefore = (db: Db, projectId: ProjectId, id: string, before: string[]) =>
  db.run(setBefore, [projectId, id, JSON.stringify(before), new Date()])

export const activateChannel = (db: Db, projectId: ProjectId, id: string, apnsChannelId: string) =>
  db.run(activate, [projectId, id, apnsChannelId, new Date()])

export const postponeChannel = (
  db: Db,
  projectId: ProjectId,
  id: string,
  { retries, reason, message }: { retries: Retries; reason: string; message: string }
) => db.run(postpone, [projectId, id, retries, reason, message])

export const failChannel = (db: Db, projectId: ProjectId, id: string, reason: string, message: string | null) =>
  db.run(fail, [projectId, id, reason, message, new Date()])

/** False if it is not active. */
export const beginRemovalOf = async (db: Db, projectId: ProjectId, id: string): Promise<boolean> =>
  (await db.run(beginRemoval, [projectId, id, new Date()])) > 0

/** Deletes the channel with its changes. */
export const removeChannel = (db: Db, projectId: ProjectId, id: string) => db.run(remove, [projectId, id])

/** Those of Apple's ids that some channel of this installation has. */
export const findKnown = async (db: Db, apnsChannelIds: string[]): Promise<Set<string>> => {
  const rows = await db.query<{ apns_channel_id: string }>(known, [apnsChannelIds])
  return new Set(rows.map(({ apns_channel_id }) => apns_channel_id))
}

/** Deletes channels that Apple refused before this time. */
export const sweepFailedChannels = (db: Db, projectId: ProjectId, before: Date) =>
  db.run(sweepFailed, [projectId, before])

export const eraseChannels = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])

export type OpenChannel = Pick<ChannelRow, 'id' | 'app' | 'environment' | 'state'> & { project_id: ProjectId }

/** Channels with work that has waited since before this time. */
export const findOpen = (db: Db, before: Date) => db.query<OpenChannel>(openOnes, [before])

export const findOpenOfProject = (db: Db, projectId: ProjectId) => db.query<OpenChannel>(openOfProject, [projectId])
