import { isDeepStrictEqual } from 'node:util'
import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { recordAudit } from '../projects/projects.ts'
import { checkPatterns } from '../segments/segments.ts'
import { checkCampaignId, readAudience } from './audience/request.ts'
import { type Campaign, parseCampaignInTurns } from './definition/definition.ts'
import * as store from './store.ts'

/** What became of a campaign that was given to be saved. */
export interface Saved {
  row: store.CampaignRow
  result: 'created' | 'updated' | 'unchanged'
}

/** `*`: any version, but there must be one. Absent: whatever is there is replaced. */
export type Expected = number | '*' | undefined

export type Saving = ReturnType<typeof createSaving>

/** Everything that can be known to be wrong is told when it is saved, and not to a worker in the night. */
async function checked(pool: Pool, body: unknown): Promise<Campaign> {
  const campaign = await parseCampaignInTurns(body)
  if (campaign.default_audience) readAudience(campaign.default_audience, 'default_audience')
  await checkPatterns(pool, campaign.segment)
  return campaign
}

/** Campaigns as they are configured. Every change is a new version; saving what is already there changes nothing. */
export function createSaving(pool: Pool) {
  const stale = (version: number | undefined) =>
    new Refusal(
      'conflict',
      version === undefined
        ? 'There is no such campaign yet.'
        : `The campaign was changed meanwhile: it is at version ${version}.`
    )

  async function put(
    tx: Db,
    projectId: ProjectId,
    actor: string,
    id: string,
    change: (current: Campaign | undefined) => Campaign,
    expected: Expected
  ): Promise<Saved> {
    const at = new Date()
    await store.lockCampaign(tx, projectId, id)
    const current = await store.findCampaign(tx, projectId, id)
    if (expected !== undefined && (!current || (expected !== '*' && expected !== current.version)))
      throw stale(current?.version)
    const definition = change(current?.definition)
    if (!current) {
      if (!(await store.insertCampaign(tx, projectId, id, definition, actor, at))) throw exists(id)
      await audit(tx, projectId, actor, 'create', id, 1)
    } else {
      if (isDeepStrictEqual(current.definition, JSON.parse(JSON.stringify(definition))))
        return { row: current, result: 'unchanged' }
      const version = current.version + 1
      await store.addVersion(tx, projectId, id, version, definition, actor, at)
      const archived = definition.status === 'archived' && current.definition.status !== 'archived'
      await audit(tx, projectId, actor, archived ? 'archive' : 'update', id, version)
    }
    const row = (await store.findCampaign(tx, projectId, id))!
    return { row, result: current ? 'updated' : 'created' }
  }

  const audit = (tx: Db, projectId: ProjectId, actor: string, verb: string, id: string, version: number) =>
    recordAudit(tx, projectId, { actor, action: `campaign.${verb}`, target: id, details: { version } })

  return {
    /** Whether it could be saved: the campaign as it would be, with what is wrong told as saving tells it. */
    check: (body: unknown): Promise<Campaign> => checked(pool, body),

    /** A campaign that was not there before. */
    async create(projectId: ProjectId, actor: string, body: unknown): Promise<Saved> {
      const campaign = await checked(pool, body)
      const id = campaign.campaign_id === undefined ? newId() : checkCampaignId(campaign.campaign_id)
      const definition = { ...campaign, campaign_id: id }
      return pool.transaction((tx) =>
        put(
          tx,
          projectId,
          actor,
          id,
          (current) => {
            if (current) throw exists(id)
            return definition
          },
          undefined
        )
      )
    },

    /** The campaign of this id is this one from now on, whether there was one or not. */
    async replace(projectId: ProjectId, actor: string, campaignId: unknown, body: unknown, expected: Expected) {
      const id = checkCampaignId(campaignId)
      const campaign = await checked(pool, body)
      if (campaign.campaign_id !== undefined && campaign.campaign_id !== id)
        throw new Refusal('invalid_campaign_id', 'campaign_id: must be the one of the path', [
          { path: 'campaign_id', message: 'must be the one of the path' }
        ])
      const definition = { ...campaign, campaign_id: id }
      return pool.transaction((tx) => put(tx, projectId, actor, id, () => definition, expected))
    },

    /** It can no longer be triggered; what runs goes on, and its history stays. */
    async archive(projectId: ProjectId, actor: string, campaignId: unknown, expected: Expected): Promise<Saved> {
      const id = checkCampaignId(campaignId)
      const archived = (current: Campaign | undefined): Campaign => {
        if (!current) throw notFound()
        return { ...current, status: 'archived' }
      }
      return pool.transaction((tx) => put(tx, projectId, actor, id, archived, expected))
    },

    async get(projectId: ProjectId, campaignId: unknown): Promise<store.CampaignRow> {
      const row = await store.findCampaign(pool, projectId, checkCampaignId(campaignId))
      if (!row) throw notFound()
      return row
    }
  }
}

const exists = (id: string) => new Refusal('conflict', `A campaign ${id} exists already.`)
export const notFound = () => new Refusal('not_found', 'There is no campaign of this id.')
