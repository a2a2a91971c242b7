import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { decodeCursor, defaultLimit, encodeCursor, page, pageOf, pageQuery } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller, NamesOf } from '../projects/projects.ts'
import { checkCampaignId } from './audience/request.ts'
import { notFound, type Saving } from './saving.ts'
import { Counts, Version } from './schemas.ts'
import * as store from './store.ts'

const one = '/projects/:project_id/campaigns/:campaign_id'
const refusals = ['invalid_campaign_id', 'not_found'] as const

/** Routes for the versions and the totals of a campaign. */
export function campaignHistoryRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { saving, pool, namesOf }: { saving: Saving; pool: Pool; namesOf: NamesOf }
): void {
  manage.get(
    `${one}/versions`,
    {
      summary: 'List the versions of a campaign',
      access: 'viewer',
      query: Type.Object(pageQuery),
      answer: pageOf(Version),
      refusals
    },
    async ({ caller, params, query: { limit = defaultLimit, cursor } }) => {
      const projectId = caller.project!.id
      const id = checkCampaignId(params.campaign_id)
      await saving.get(projectId, id)
      const before = cursor === undefined ? null : versionOf(decodeCursor(cursor, 1)[0]!)
      const rows = await store.listVersions(pool, projectId, id, before, limit + 1)
      const { nameOf } = await namesOf(
        projectId,
        rows.map(({ actor }) => actor)
      )
      return page(
        rows,
        limit,
        (row) => encodeCursor(String(row.version)),
        ({ definition, ...row }) => ({ ...row, actor_name: nameOf(row.actor), campaign: definition })
      )
    }
  )

  manage.get(
    `${one}/versions/:version`,
    {
      summary: 'Read a version of a campaign',
      access: 'viewer',
      params: { version: 'The number of the version.' },
      answer: Version,
      refusals
    },
    async ({ caller, params }) => {
      const id = checkCampaignId(params.campaign_id)
      const { version } = params
      const known = version !== undefined && wholeVersion.test(version)
      // A list of one that starts with this version.
      const [row] = known ? await store.listVersions(pool, caller.project!.id, id, Number(version) + 1, 1) : []
      if (!row || row.version !== Number(version)) throw new Refusal('not_found', `Version ${version} does not exist.`)
      const { definition, ...rest } = row
      const { nameOf } = await namesOf(caller.project!.id, [row.actor])
      return { ...rest, actor_name: nameOf(row.actor), campaign: definition }
    }
  )

  manage.get(
    `${one}/counts`,
    {
      summary: 'Read the totals of a campaign, over all its triggers, including deleted ones',
      access: 'viewer',
      answer: Counts,
      refusals
    },
    async ({ caller, params }) => {
      const id = checkCampaignId(params.campaign_id)
      const found = await store.totalsOf(pool, caller.project!.id, id)
      if (!found) throw notFound(id)
      return found
    }
  )
}

const wholeVersion = /^[1-9]\d{0,8}$/

function versionOf(text: string): number {
  if (!wholeVersion.test(text)) throw new Refusal('invalid_parameter', 'cursor: is not one that was given out')
  return Number(text)
}
