import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import { pageOf } from '../platform/http/paging.ts'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller, NamesOf } from '../projects/projects.ts'
import type { Campaigns } from './campaigns.ts'
import { ignoredFields, readWarnings, warningsOf } from './definition/warnings.ts'
import { CampaignQuery, campaignPage } from './list.ts'
import { campaignTrialRoutes } from './preview/routes.ts'
import type { Expected, Saved } from './saving.ts'
import { upcoming } from './schedule/occurrences.ts'
import { Answer, CampaignBody, example, SavedAnswer } from './schemas.ts'
import type { CampaignRow } from './store.ts'
import { textRoutes } from './texts/exchange/routes.ts'
import { shownWinners } from './texts/winner.ts'
import { winnerRoutes } from './texts/winner-routes.ts'
import { campaignHistoryRoutes } from './version-routes.ts'

/** Routes that configure campaigns. */
export function campaignManagementRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { campaigns, pool, namesOf }: { campaigns: Campaigns; pool: Pool; namesOf: NamesOf }
): void {
  const { saving } = campaigns
  const path = '/projects/:project_id/campaigns'
  const one = `${path}/:campaign_id`
  const refusals = ['invalid_campaign_id', 'not_found'] as const

  manage.post(
    path,
    {
      summary: 'Create a campaign',
      access: 'editor',
      body: CampaignBody,
      warnsItself: true,
      maxBody: largestBody,
      checksBody: true,
      answer: SavedAnswer,
      status: 201,
      refusals: ['conflict', 'invalid_campaign', 'invalid_segment', 'invalid_template', 'invalid_campaign_id'],
      example
    },
    async ({ caller, body, reply }) => saved(reply, await saving.create(caller.project!.id, caller.actor, body), body)
  )

  manage.get(
    path,
    {
      summary: 'List campaigns',
      access: 'viewer',
      query: CampaignQuery,
      answer: pageOf(Answer)
    },
    ({ caller, query }) =>
      campaignPage(pool, caller.project!.id, query, responseOf, (rows) =>
        readWarnings(rows.map(({ definition }) => definition))
      )
  )

  manage.get(
    one,
    { summary: 'Read a campaign', access: 'viewer', answer: Answer, refusals },
    async ({ caller, params, reply }) => {
      const row = await saving.get(caller.project!.id, params.campaign_id)
      await readWarnings([row.definition])
      return tagged(reply, row.version, { ...responseOf(row), ...aheadOf(row) })
    }
  )

  manage.put(
    one,
    {
      operationId: 'saveProjectCampaign',
      summary: 'Create or replace a campaign',
      access: 'editor',
      body: CampaignBody,
      warnsItself: true,
      maxBody: largestBody,
      checksBody: true,
      answer: SavedAnswer,
      refusals: ['conflict', 'invalid_campaign', 'invalid_segment', 'invalid_template', ...refusals],
      example
    },
    async ({ caller, params, body, request, reply }) =>
      saved(
        reply,
        await saving.replace(caller.project!.id, caller.actor, params.campaign_id, body, expectedOf(request)),
        body
      )
  )

  manage.delete(
    one,
    {
      operationId: 'archiveProjectCampaign',
      summary: 'Archive a campaign: it can no longer be triggered, and its versions remain',
      access: 'editor',
      answer: SavedAnswer,
      refusals: ['conflict', ...refusals]
    },
    async ({ caller, params, request, reply }) =>
      saved(reply, await saving.archive(caller.project!.id, caller.actor, params.campaign_id, expectedOf(request)))
  )

  campaignHistoryRoutes(manage, { saving, pool, namesOf })
  campaignTrialRoutes(manage, campaigns)
  winnerRoutes(manage, campaigns.winners)
  textRoutes(manage, saving)
}

/** Reads the version in If-Match, as ETag sends it, or without quotes as people type it. */
function expectedOf(request: FastifyRequest): Expected {
  const given = request.headers['if-match']
  if (given === undefined) return undefined
  if (given.trim() === '*') return '*'
  const version = /^\s*(?:W\/)?(?:"(\d{1,9})"|(\d{1,9}))\s*$/.exec(given)
  // Any other text is not a version, so it cannot be the current one.
  return version ? Number(version[1] ?? version[2]) : -1
}

function responseOf(row: CampaignRow) {
  const winners = shownWinners(row)
  return {
    ...row.definition,
    campaign_id: row.id,
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
    ...(winners.length > 0 && { winners }),
    warnings: warningsOf(row.definition)
  }
}

const shownAhead = 3

/** The next times of an active campaign with a schedule. */
function aheadOf({ definition: { type, status, schedule } }: CampaignRow): { next_at?: string[] } {
  if (type !== 'scheduled' || status !== 'active' || !schedule) return {}
  return { next_at: upcoming(schedule, Date.now(), shownAhead) }
}

/** Adds warnings about fields of the body that were ignored. */
async function saved(reply: FastifyReply, { row, result }: Saved, body: unknown = {}) {
  await readWarnings([row.definition])
  const { warnings, ...campaign } = responseOf(row)
  return tagged(reply, row.version, {
    ...campaign,
    ...aheadOf(row),
    warnings: [...warnings, ...ignoredFields(body)],
    result
  })
}

function tagged<Body>(reply: FastifyReply, version: number, body: Body): Body {
  reply.header('etag', `"${version}"`)
  return body
}
