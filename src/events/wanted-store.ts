import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { renewWantedEvents } from '../projects/projects.ts'

const want = statement(
  'wanted_events.want',
  `insert into wanted_events (project_id, name, campaign_id, until)
   select p.project_id, w.name, $2, null from projects p cross join unnest($3::text[]) as w(name)
    where p.project_id = $1 and p.deleted_at is null
   on conflict (project_id, name, campaign_id) do update set until = null`
)
const end = statement(
  'wanted_events.end',
  `update wanted_events set until = $4
    where project_id = $1 and campaign_id = $2 and until is null and name <> all($3::text[])`
)
const find = statement(
  'wanted_events.find',
  `select p.wanted_events_version as version, array(
            select distinct w.name from wanted_events w where w.project_id = $1) as names
     from projects p where p.project_id = $1 and p.deleted_at is null`
)
const sweep = statement('wanted_events.sweep', 'delete from wanted_events where project_id = $1 and until <= $2')
const erase = statement(
  'wanted_events.erase_window',
  `delete from wanted_events where project_id = $1 and (name, campaign_id) in (
     select name, campaign_id from wanted_events where project_id = $1 limit 5000)`
)

/**
 * Sets the names of events that a campaign reacts to, in the transaction that saves it. Every event of such a name that
 * is stored after that transaction goes to the subscribers. Names that the campaign no longer has are kept until
 * `lasting`, for users who are under way in an earlier version.
 */
export async function wantEvents(
  tx: Db,
  projectId: ProjectId,
  campaignId: string,
  names: string[],
  lasting: Date
): Promise<void> {
  await tx.run(end, [projectId, campaignId, names, lasting])
  if (names.length === 0) return
  await tx.run(want, [projectId, campaignId, [...new Set(names)].sort()])
  await renewWantedEvents(tx, projectId)
}

/** The names that campaigns of a project react to. The version is a bigint, so it arrives as text. */
export const findWanted = (db: Db, projectId: ProjectId) =>
  db.one<{ version: string; names: string[] }>(find, [projectId])

export const sweepWanted = (db: Db, projectId: ProjectId, at: Date) => db.run(sweep, [projectId, at])

export const eraseWantedWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
