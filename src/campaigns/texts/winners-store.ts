import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** A variant that all recipients get from now on, or that none is to be chosen. */
export interface Decision {
  /** Null: a person took the winner back, and results must not choose one again. */
  variant: string | null
  /** The variants it was chosen among. It counts only while a version has the same ones. */
  among: readonly string[]
  /** The rate that decided; null: it was decided by hand. */
  by: 'conversion' | 'tapped' | 'delivered' | null
  chosen_at: string
}

export type Winner = Decision & { variant: string }

/** Decisions by step; the key of a campaign without steps is empty. */
export type Winners = Readonly<Record<string, Decision>>

const find = statement(
  'campaigns.winners',
  'select id, winners from campaigns where project_id = $1 and id = any($2::text[]) and winners is not null'
)
// A mark without winners: the campaign lets its results decide.
const mark = statement(
  'campaigns.await_winners',
  `update campaigns set winners = '{}' where project_id = $1 and id = $2 and winners is null`
)
const awaiting = statement(
  'campaigns.awaiting_winners',
  `select c.project_id as "projectId", c.id as "campaignId" from campaigns c
     join projects p on p.project_id = c.project_id and p.deleted_at is null
    where c.winners is not null and c.status = 'active'`,
  { acrossProjects: 'a job looks at the results of campaigns that choose a winner by them' }
)
const set = statement('campaigns.set_winners', 'update campaigns set winners = $3 where project_id = $1 and id = $2')

/** The winners of campaigns. Campaigns without any are missing from the result. */
export async function findWinners(db: Db, projectId: ProjectId, campaignIds: string[]): Promise<Map<string, Winners>> {
  const rows = await db.query<{ id: string; winners: Winners }>(find, [projectId, [...new Set(campaignIds)]])
  return new Map(rows.map(({ id, winners }) => [id, winners]))
}

/** Makes the job look at the results of a campaign. */
export const awaitWinners = (tx: Db, projectId: ProjectId, campaignId: string) => tx.run(mark, [projectId, campaignId])

/** Active campaigns with winners, or without any yet. */
export const awaitingWinners = (db: Db) => db.query<{ projectId: ProjectId; campaignId: string }>(awaiting, [])

/** The caller has locked the campaign. */
export const setWinners = (tx: Db, projectId: ProjectId, campaignId: string, winners: Winners) =>
  tx.run(set, [projectId, campaignId, JSON.stringify(winners)])
