import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import type { Campaigns } from './campaigns.ts'
import { CampaignQuery, campaignPage, Status } from './list.ts'
import type { CampaignRow } from './store.ts'

export const CampaignSummary = Type.Object({
  campaign_id: Type.String(),
  name: Type.String({ description: 'The display name.' }),
  type: Type.String({ description: 'api_triggered, scheduled or event_triggered. Only the first can be triggered.' }),
  status: Status,
  version: Type.Integer({ description: 'Increases with every change.' }),
  topic: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'null: the campaign has no topic.' }),
  updated_at: Type.String()
})

/** Routes for backends: which campaigns exist and can be triggered. The management API has their content. */
export function campaignSummaryRoutes(
  api: Routes<ApiCaller, ApiAccess>,
  { campaigns, pool }: { campaigns: Campaigns; pool: Pool }
): void {
  api.get(
    '/campaigns',
    {
      summary: 'List campaigns',
      query: CampaignQuery,
      answer: pageOf(CampaignSummary),
      refusals: ['invalid_parameter']
    },
    ({ caller, query }) => campaignPage(pool, caller.project.id, query, summaryOf)
  )

  api.get(
    '/campaigns/:campaign_id',
    {
      summary: 'Read the state and the version of a campaign',
      params: { campaign_id: 'The id of the campaign, percent-encoded.' },
      answer: CampaignSummary,
      refusals: ['not_found', 'invalid_campaign_id']
    },
    async ({ caller, params: { campaign_id } }) => summaryOf(await campaigns.saving.get(caller.project.id, campaign_id))
  )
}

function summaryOf({ id, version, updated_at, definition: { name, type, status, topic } }: CampaignRow) {
  return { campaign_id: id, name, type, status, version, topic: topic ?? null, updated_at }
}
