import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Journey } from './journey.ts'

export type ShownJourney = Omit<Journey, 'user_id' | 'properties' | 'inherits' | 'first_trigger'> & {
  ended_at: Date | null
  again: number
}

const list = statement(
  'journeys.list_of_user',
  `select id, campaign_id, campaign_version, source, sequence, entered_at, step, due_at, state, reason, ended_at, again
     from journeys where project_id = $1 and user_id = $2 and ($3::uuid is null or id < $3) order by id desc limit $4`
)
const totals = statement(
  'journeys.totals',
  `select state, count(*)::float8 as users, sum(again)::float8 as again from journeys
    where project_id = $1 and campaign_id = $2 group by state`
)
const steps = statement(
  'journeys.waiting_by_step',
  `select campaign_version, step, count(*)::float8 as waiting, min(due_at) as next_due_at from journeys
    where project_id = $1 and campaign_id = $2 and state = 'waiting' group by campaign_version, step
    order by campaign_version, step`
)

export const listJourneys = (db: Db, projectId: ProjectId, userId: string, before: string | null, limit: number) =>
  db.query<ShownJourney>(list, [projectId, userId, before, limit])

/** Journeys of a campaign by their state. Old ones that ended are not kept. */
export const totalsOf = (db: Db, projectId: ProjectId, campaignId: string) =>
  db.query<{ state: Journey['state']; users: number; again: number }>(totals, [projectId, campaignId])

export const waitingBySteps = (db: Db, projectId: ProjectId, campaignId: string) =>
  db.query<{ campaign_version: number; step: number; waiting: number; next_due_at: Date }>(steps, [
    projectId,
    campaignId
  ])
