import { isDeepStrictEqual } from 'node:util'
import type { Db, Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { holdTopic } from '../preferences/preferences.ts'
import { recordAudit } from '../projects/projects.ts'
import { checkPatterns } from '../segments/segments.ts'
import { checkCampaignId, readAudience } from './audience/request.ts'
import { type Campaign, parseCampaignInTurns } from './definition/definition.ts'
import * as store from './store.ts'

/** A saved campaign, and the effect of saving it. */
export interface Saved {
  row: store.CampaignRow
  result: 'created' | 'updated' | 'unchanged'
}

/** The version that a change expects. `*`: any version, but the campaign must exist. Absent: no condition. */
export type Expected = number | '*' | undefined

export type Saving = ReturnType<typeof createSaving>

/** Makes all checks when a campaign is saved, so that none fails later in a worker. */
async function checked(pool: Pool, body: unknown): Promise<Campaign> {
  const campaign = await parseCampaignInTurns(body)
  if (campaign.default_audience) readAudience(campaign.default_audience, 'default_audience')
  await checkPatterns(pool, campaign.segment)
  return campaign
}

/** Saves campaigns. Every change is a new version; an identical campaign changes nothing. */
export function createSaving(pool: Pool) {
  const stale = (version: number | undefined) =>
    new Refusal(
      'conflict',
      version === undefined
        ? 'The campaign does not exist yet.'
        : `The campaign was changed meanwhile. Its current version is ${version}.`
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
    await checkTopic(tx, projectId, definition)
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
    /** Checks a campaign as saving does, and returns it with its defaults. */
    check: (body: unknown): Promise<Campaign> => checked(pool, body),

    /** Creates a campaign. Refused if the id exists. */
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

    /** Creates or replaces the campaign with this id. */
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

    /** Archives a campaign: it can no longer be triggered. Running triggers go on, and its versions remain. */
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

/** The topic cannot be deleted before the campaign is saved. An archived campaign may name one that was deleted. */
async function checkTopic(tx: Db, projectId: ProjectId, { topic, status }: Campaign): Promise<void> {
  if (topic === undefined || status === 'archived' || (await holdTopic(tx, projectId, topic))) return
  const message = `There is no topic ${topic} in this project. Create it first (tidings topic apply).`
  throw new Refusal('invalid_campaign', `topic: ${message}`, [{ path: 'topic', message }])
}

const exists = (id: string) => new Refusal('conflict', `Campaign ${id} exists already.`)
export const notFound = () => new Refusal('not_found', 'There is no campaign of this id.')
