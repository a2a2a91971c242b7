import { isDeepStrictEqual } from 'node:util'
import { wantEvents } from '../events/events.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { readJson } from '../platform/json/names.ts'
import { holdTopic } from '../preferences/preferences.ts'
import { changesOf, recordAudit } from '../projects/projects.ts'
import { checkPatterns, idsIn, lockSaved, type Whole, wholeOf } from '../segments/segments.ts'
import { checkCampaignId, readAudience } from './audience/request.ts'
import { type Campaign, parseCampaignInTurns } from './definition/definition.ts'
import { eventNames, eventSegments } from './definition/journey-rules.ts'
import * as store from './store.ts'
import { awaitWinners } from './texts/winners-store.ts'
import { formerVersionsUntil } from './waits-store.ts'

/** A saved campaign, and the effect of saving it. */
export interface Saved {
  row: store.CampaignRow
  result: 'created' | 'updated' | 'unchanged'
}

/** The version that a change expects. `*`: any version, but the campaign must exist. Absent: no condition. */
export type Expected = number | '*' | undefined

/** Receives a campaign that was created or changed, in the transaction that saves it. `before`: as it was. */
export type CampaignSaved = (
  tx: Db,
  projectId: ProjectId,
  row: store.CampaignRow,
  before: Campaign | undefined
) => Promise<void>

/** Makes the definition that is saved of the current one, if there is one. */
type Change = (current: Campaign | undefined) => Campaign

/** `locks`: the project is locked first. */
interface Conditions {
  expected: Expected
  locks: boolean
}

export type Saving = ReturnType<typeof createSaving>

/** Makes all checks when a campaign is saved, so that none fails later in a worker. */
async function checked(pool: Pool, projectId: ProjectId, body: unknown): Promise<Campaign> {
  const campaign = await parseCampaignInTurns(body)
  if (campaign.default_audience) readAudience(campaign.default_audience, 'default_audience')
  await checkPatterns(pool, projectId, campaign.segment)
  for (const [path, segment] of eventSegments(campaign)) await checkPatterns(pool, projectId, segment, path)
  return campaign
}

/**
 * A change for the audit log: the altered fields by name, and the values of short ones. The versions hold the rest, and
 * the log holds no texts.
 */
function changeOf(old: Campaign, fresh: Campaign): Record<string, unknown> {
  const stored = readJson(JSON.stringify(fresh)) as Campaign
  const names = [...new Set([...Object.keys(old), ...Object.keys(stored)])] as (keyof Campaign)[]
  const changed = names.filter((name) => !isDeepStrictEqual(old[name], stored[name]))
  const short = ({ name, status }: Campaign) => ({ name, status })
  return { changed, ...changesOf(short(old), short(stored)), name: stored.name }
}

/** Saves campaigns. Every change is a new version; an identical campaign changes nothing. */
export function createSaving(pool: Pool, onSaved: CampaignSaved) {
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
    change: Change,
    { expected, locks }: Conditions
  ): Promise<Saved> {
    const at = new Date()
    // Before the campaign is locked: a change of a saved segment locks the project first, and its campaigns then. A lock that
    // others may share would not do, because the names of events change the project later: two saves would wait for each other.
    if (locks) await lockSaved(tx, projectId)
    await store.lockCampaign(tx, projectId, id)
    const current = await store.findCampaign(tx, projectId, id)
    if (expected !== undefined && (!current || (expected !== '*' && expected !== current.version)))
      throw stale(current?.version)
    const definition = change(current?.definition)
    await checkTopic(tx, projectId, definition)
    if (!current) {
      const whole = await wholeOf(tx, projectId, definition.segment)
      if (!(await store.insertCampaign(tx, projectId, id, { definition, whole, actor, at }))) throw exists(id)
      await audit(tx, projectId, actor, 'create', id, 1, { name: definition.name })
    } else {
      if (isDeepStrictEqual(current.definition, readJson(JSON.stringify(definition))))
        return { row: current, result: 'unchanged' }
      const version = current.version + 1
      const whole = await wholeNow(tx, projectId, definition, current)
      await store.addVersion(tx, projectId, id, version, { definition, whole, actor, at })
      const archived = definition.status === 'archived' && current.definition.status !== 'archived'
      await audit(
        tx,
        projectId,
        actor,
        archived ? 'archive' : 'update',
        id,
        version,
        changeOf(current.definition, definition)
      )
    }
    if (definition.winner) await awaitWinners(tx, projectId, id)
    await keepWanted(tx, projectId, id, current?.definition, definition, at)
    const row = (await store.findCampaign(tx, projectId, id))!
    await onSaved(tx, projectId, row, current?.definition)
    return { row, result: current ? 'updated' : 'created' }
  }

  const save = (projectId: ProjectId, actor: string, id: string, change: Change, conditions: Conditions) =>
    againIfRaced(() => pool.transaction((tx) => put(tx, projectId, actor, id, change, conditions)))

  const audit = (tx: Db, projectId: ProjectId, actor: string, verb: string, id: string, version: number, more = {}) =>
    recordAudit(tx, projectId, { actor, action: `campaign.${verb}`, target: id, details: { version, ...more } })

  return {
    /** Checks a campaign as saving does, and returns it with its defaults. */
    check: (projectId: ProjectId, body: unknown): Promise<Campaign> => checked(pool, projectId, body),

    /** Creates a campaign. Refused if the id exists. */
    async create(projectId: ProjectId, actor: string, body: unknown): Promise<Saved> {
      const campaign = await checked(pool, projectId, body)
      const id = campaign.campaign_id === undefined ? newId() : checkCampaignId(campaign.campaign_id)
      const definition = { ...campaign, campaign_id: id }
      const created = (current: Campaign | undefined) => {
        if (current) throw exists(id)
        return definition
      }
      return save(projectId, actor, id, created, { expected: undefined, locks: needsProject(definition) })
    },

    /** Creates or replaces the campaign with this id. */
    async replace(projectId: ProjectId, actor: string, campaignId: unknown, body: unknown, expected: Expected) {
      const id = checkCampaignId(campaignId)
      const campaign = await checked(pool, projectId, body)
      if (campaign.campaign_id !== undefined && campaign.campaign_id !== id)
        throw new Refusal('invalid_campaign_id', 'campaign_id: must be the one of the path', [
          { path: 'campaign_id', message: 'must be the one of the path' }
        ])
      const definition = { ...campaign, campaign_id: id }
      return save(projectId, actor, id, () => definition, { expected, locks: needsProject(definition) })
    },

    /** Archives a campaign: it can no longer be triggered. Running triggers go on, and its versions remain. */
    async archive(projectId: ProjectId, actor: string, campaignId: unknown, expected: Expected): Promise<Saved> {
      const id = checkCampaignId(campaignId)
      const archived = (current: Campaign | undefined): Campaign => {
        if (!current) throw notFound(id)
        return { ...current, status: 'archived' }
      }
      return save(projectId, actor, id, archived, { expected, locks: false })
    },

    /** Gives each campaign that uses a saved segment a new version with the segment as it is now. */
    async renew(tx: Db, projectId: ProjectId, actor: string, segmentId: string): Promise<void> {
      const at = new Date()
      for (const id of await store.campaignsUsing(tx, projectId, segmentId, null)) {
        await store.lockCampaign(tx, projectId, id)
        const { definition, version } = (await store.findCampaign(tx, projectId, id))!
        const whole = await wholeOf(tx, projectId, definition.segment).catch((error: unknown) => {
          throw error instanceof Refusal ? inCampaign(id, error) : error
        })
        await store.addVersion(tx, projectId, id, version + 1, { definition, whole, actor, at })
        await audit(tx, projectId, actor, 'update', id, version + 1, { name: definition.name, segment: segmentId })
      }
    },

    async get(projectId: ProjectId, campaignId: unknown): Promise<store.CampaignRow> {
      const id = checkCampaignId(campaignId)
      const row = await store.findCampaign(pool, projectId, id)
      if (!row) throw notFound(id)
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

/** The events that a campaign reacts to. */
const reactsTo = (campaign: Campaign): string[] => (campaign.status === 'active' ? eventNames(campaign) : [])

/** Whether saving a campaign reads saved segments, or changes the names of events of its project. */
const needsProject = (campaign: Campaign): boolean =>
  idsIn(campaign.segment).length > 0 || reactsTo(campaign).length > 0

/** An archived campaign keeps its segment as it was: a saved segment that only it used may be gone. */
async function wholeNow(
  tx: Db,
  projectId: ProjectId,
  definition: Campaign,
  { whole_segment }: store.CampaignRow
): Promise<Whole | undefined> {
  if (definition.status === 'archived' && whole_segment) return { segment: whole_segment, refs: [] }
  return wholeOf(tx, projectId, definition.segment)
}

const inCampaign = (id: string, { code, details }: Refusal) => {
  const told = details.map(({ path, message }) => ({ path, message: `${message} (in the campaign "${id}")` }))
  return new Refusal(code, `${told[0]!.path}: ${told[0]!.message}`, told)
}

/** Says which events the campaign reacts to from now on. Most campaigns react to none. */
async function keepWanted(
  tx: Db,
  projectId: ProjectId,
  id: string,
  before: Campaign | undefined,
  now: Campaign,
  at: Date
): Promise<void> {
  const names = reactsTo(now)
  const former = before ? eventNames(before) : []
  if (names.length === 0 && former.length === 0) return
  const ends = former.some((name) => !names.includes(name))
  const lasting = ends ? await formerVersionsUntil(tx, projectId, id, at) : at
  await wantEvents(tx, projectId, id, names, lasting)
}

const exists = (id: string) => new Refusal('conflict', `Campaign ${id} exists already.`)
export const notFound = (id: string) => new Refusal('not_found', `There is no campaign "${id}".`)
