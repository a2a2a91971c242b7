import type { TriggerCampaign } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** What a caller was shown, and what it was asked about. `recipients` is a bigint, so it arrives as text. */
export interface ConfirmationRow {
  command: TriggerCampaign
  campaign_version: number
  recipients: string
  complete: boolean
  expires_at: Date
}

const insert = statement(
  'confirmations.insert',
  `insert into confirmations (project_id, id, actor, command, campaign_version, recipients, complete, expires_at)
   select p.project_id, $2, $3, $4, $5, $6, $7, $8 from projects p where p.project_id = $1 and p.deleted_at is null`
)
const find = statement(
  'confirmations.find',
  `select command, campaign_version, recipients, complete, expires_at from confirmations
    where project_id = $1 and id = $2 and actor = $3`
)
const remove = statement(
  'confirmations.delete',
  'delete from confirmations where project_id = $1 and id = $2 and actor = $3'
)
const sweep = statement(
  'confirmations.sweep',
  `delete from confirmations where project_id = $1 and id in (
     select id from confirmations where project_id = $1 and expires_at <= $2 limit 5000)`
)
const erase = statement(
  'confirmations.erase_window',
  `delete from confirmations where project_id = $1 and id in (
     select id from confirmations where project_id = $1 limit 5000)`
)

export const insertConfirmation = (
  db: Db,
  projectId: ProjectId,
  id: string,
  actor: string,
  {
    command,
    campaign_version,
    recipients,
    complete,
    expires_at
  }: Omit<ConfirmationRow, 'recipients'> & {
    recipients: number
  }
) => db.run(insert, [projectId, id, actor, JSON.stringify(command), campaign_version, recipients, complete, expires_at])

/** Only the caller that was asked finds it. */
export const findConfirmation = (db: Db, projectId: ProjectId, id: string, actor: string) =>
  db.one<ConfirmationRow>(find, [projectId, id, actor])

export const deleteConfirmation = (db: Db, projectId: ProjectId, id: string, actor: string) =>
  db.run(remove, [projectId, id, actor])

/** Deletes up to 5,000 confirmations that ended before the given time, and returns how many. */
export const sweepConfirmations = (db: Db, projectId: ProjectId, endedBefore: Date) =>
  db.run(sweep, [projectId, endedBefore])

export const eraseConfirmationWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
