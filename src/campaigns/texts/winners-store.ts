import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** A variant that all recipients get from now on. */
export interface Winner {
  variant: string
  /** The variants it was chosen among. It counts only while a version has the same ones. */
  among: readonly string[]
  /** The rate that decided; null: it was chosen by hand. */
  by: 'conversion' | 'tapped' | 'delivered' | null
  chosen_at: string
}

/** Winners by step; the key of a campaign without steps is empty. */
export type Winners = Readonly<Record<string, Winner>>

const find = statement(
  'campaigns.winners',
  'select id, winners from campaigns where project_id = $1 and id = any($2::text[]) and winners is not null'
)
const set = statement('campaigns.set_winners', 'update campaigns set winners = $3 where project_id = $1 and id = $2')

/** The winners of campaigns. Campaigns without any are missing from the result. */
export async function findWinners(db: Db, projectId: ProjectId, campaignIds: string[]): Promise<Map<string, Winners>> {
  const rows = await db.query<{ id: string; winners: Winners }>(find, [projectId, [...new Set(campaignIds)]])
  return new Map(rows.map(({ id, winners }) => [id, winners]))
}

/** The caller has locked the campaign. */
export const setWinners = (tx: Db, projectId: ProjectId, campaignId: string, winners: Winners | null) =>
  tx.run(set, [projectId, campaignId, winners && JSON.stringify(winners)])
