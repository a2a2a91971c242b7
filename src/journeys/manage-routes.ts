import { Type } from '@sinclair/typebox'
import type { Campaigns } from '../campaigns/campaigns.ts'
import type { Pool } from '../platform/db/db.ts'
import { defaultLimit, encodeCursor, idAfter, pageOf, pageQuery } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import type { Users } from '../users/users.ts'
import { createPlans, type Plan } from './plan.ts'
import { listJourneys, type ShownJourney, totalsOf, waitingBySteps } from './reading-store.ts'
import { CampaignJourneys, JourneyAnswer } from './schemas.ts'

/** Routes by which the console and the CLI see users on their way. */
export function journeyRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { users, campaigns, pool }: { users: Users; campaigns: Campaigns; pool: Pool }
): void {
  const plans = createPlans()

  manage.get(
    '/projects/:project_id/users/:project_user_id/journeys',
    {
      summary: 'List the campaigns with steps, a delay or a limit of reentry that a user entered',
      access: 'viewer',
      query: Type.Object(pageQuery),
      answer: pageOf(JourneyAnswer)
    },
    async ({ caller, params, query: { limit = defaultLimit, cursor } }) => {
      const projectId = caller.project!.id
      const user = await users.get(projectId, params.project_user_id)
      const rows = await listJourneys(pool, projectId, user.id, idAfter(cursor), limit + 1)
      const shown = rows.slice(0, limit)
      const items = await Promise.all(
        shown.map(async (row) => shownJourney(row, await plans(pool, projectId, row.campaign_id, row.campaign_version)))
      )
      return { items, next_cursor: rows.length > limit ? encodeCursor(shown.at(-1)!.id) : null }
    }
  )

  manage.get(
    '/projects/:project_id/campaigns/:campaign_id/journeys',
    {
      operationId: 'countProjectCampaignJourneys',
      summary: 'Count the users on their way through a campaign',
      access: 'viewer',
      answer: CampaignJourneys
    },
    async ({ caller, params }) => {
      const projectId = caller.project!.id
      const { id } = await campaigns.saving.get(projectId, params.campaign_id)
      const [totals, steps] = await Promise.all([totalsOf(pool, projectId, id), waitingBySteps(pool, projectId, id)])
      const usersIn = (state: string) => totals.find((one) => one.state === state)?.users ?? 0
      return {
        waiting: usersIn('waiting'),
        completed: usersIn('completed'),
        exited: usersIn('exited'),
        stopped: usersIn('stopped'),
        not_entered_again: totals.reduce((sum, { again }) => sum + again, 0),
        steps: await Promise.all(
          steps.map(async ({ campaign_version, step, waiting, next_due_at }) => {
            const plan = await plans(pool, projectId, id, campaign_version)
            return { campaign_version, step: stepId(plan, step), waiting, next_due_at }
          })
        )
      }
    }
  )
}

const stepId = (plan: Plan, step: number) => plan.steps[step]?.id ?? null

const shownJourney = (row: ShownJourney, plan: Plan) => ({
  journey_id: row.id,
  campaign_id: row.campaign_id,
  campaign_version: row.campaign_version,
  source: row.source,
  state: row.state,
  message: sentenceOf(row, plan),
  step: row.state === 'completed' ? null : stepId(plan, row.step),
  entered_at: row.entered_at,
  due_at: row.state === 'waiting' ? row.due_at : null,
  ended_at: row.ended_at,
  reason: row.reason,
  not_entered_again: row.again
})

const stops: Readonly<Record<string, string>> = {
  campaign_not_active: 'The campaign was not active when the next message was due.',
  trigger_canceled: 'The trigger with which the user entered was canceled.',
  trigger_deleted: 'The trigger with the values of the next message was deleted, as old ones are.',
  internal_error: 'The next message could not be sent because of a fault of the service.',
  discarded: 'The next message was canceled by resume --discard, after a restore.',
  merged: 'The user was merged with another one who is in the same steps.'
}

function sentenceOf({ state, reason, due_at, step }: ShownJourney, plan: Plan): string {
  const id = stepId(plan, step)
  const next = id === null ? 'the message' : `the step ${id}`
  if (state === 'waiting') return `Waiting for ${next} until ${due_at.toISOString()}.`
  if (state === 'exited') return `Left by the event ${reason} before ${next}.`
  if (state === 'stopped') return stops[reason ?? ''] ?? 'The campaign stopped.'
  return 'All messages were due and accepted.'
}
