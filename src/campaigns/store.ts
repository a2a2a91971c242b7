import type { Db } from '../platform/db/db.ts'
import { later, statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { isTransactional } from '../preferences/preferences.ts'
import type { Segment, Whole } from '../segments/segments.ts'
import type { Campaign } from './definition/definition.ts'
import type { Winners } from './texts/winners-store.ts'

export interface CampaignRow {
  id: string
  version: number
  definition: Campaign
  /** The segment with its saved segments written out; null: it refers to none. */
  whole_segment: Segment | null
  past: Partial<Record<string, number>>
  /** Variants that were chosen as winners, by step; null: none. */
  winners: Winners | null
  created_at: Date
  updated_at: Date
}

export interface VersionRow {
  version: number
  definition: Campaign
  actor: string
  created_at: Date
}

const columns = 'c.id, c.version, v.definition, v.whole_segment, c.past, c.winners, c.created_at, c.updated_at'
const source = `from campaigns c join campaign_versions v
     on v.project_id = $1 and v.campaign_id = c.id and v.version = c.version`

const insert = statement(
  'campaigns.insert',
  `insert into campaigns (project_id, id, version, name, type, status, topic, transactional, segment_refs, throttled_until,
     past, created_at, updated_at)
   select p.project_id, $2, 1, $3, $4, $5, $6, $7, $8, $9, '{}', $9, $9 from projects p where p.project_id = $1 and p.deleted_at is null
   on conflict (project_id, id) do nothing`
)
const insertVersion = statement(
  'campaign_versions.insert',
  `insert into campaign_versions (project_id, campaign_id, version, definition, actor, created_at, whole_segment)
   values ($1, $2, $3, $4, $5, $6, $7)`
)
const update = statement(
  'campaigns.update',
  `update campaigns
      set version = $3, name = $4, type = $5, status = $6, topic = $7, transactional = $8, segment_refs = $9,
          updated_at = $10
    where project_id = $1 and id = $2`
)
const find = statement('campaigns.find', `select ${columns} ${source} where c.project_id = $1 and c.id = $2`)
const lock = statement(
  'campaigns.lock',
  'select version from campaigns where project_id = $1 and id = $2 for no key update'
)
const list = statement(
  'campaigns.list',
  `select ${columns} ${source}
    where c.project_id = $1 and ($2::text is null or c.status = $2)
      and ($3::timestamptz is null or (c.created_at, c.id) < ($3, $4::text))
      and ($6::text is null or position(lower($6) in lower(c.id)) > 0 or position(lower($6) in lower(c.name)) > 0)
    order by c.created_at desc, c.id desc limit $5`
)
const versions = statement(
  'campaign_versions.list',
  `select version, definition, actor, created_at from campaign_versions
    where project_id = $1 and campaign_id = $2 and ($3::int is null or version < $3) order by version desc limit $4`
)
const version = statement(
  'campaign_versions.find',
  'select definition, whole_segment from campaign_versions where project_id = $1 and campaign_id = $2 and version = $3'
)
const using = statement(
  'campaigns.using_segment',
  `select id from campaigns where project_id = $1 and segment_refs @> array[$2::text] and status <> 'archived'
    order by id limit $3`
)
const facts = statement(
  'campaigns.facts',
  'select type, status, version from campaigns where project_id = $1 and id = $2'
)
// Reserves time in the throttle, in turn with the other triggers of this campaign. The clock of the database counts, also below:
// a node whose clock is wrong would send all at once, or keep the others from sending.
const reserve = statement(
  'campaigns.reserve',
  `update campaigns set throttled_until = ${later('greatest(throttled_until, now())', `$3::float8 * interval '1 ms'`)}
    where project_id = $1 and id = $2
   returning ${later('throttled_until', `-$3::float8 * interval '1 ms'`)} as from_at`
)
const lockThrottled = statement(
  'campaigns.lock_throttle',
  'select now() as at from campaigns where project_id = $1 and id = $2 for no key update'
)
const countsFrom = `greatest(paced_until, $4::timestamptz, now() - $5::float8 * interval '1 ms')`
const usedUpUntil = later(countsFrom, `$3::float8 * interval '1 ms'`)
/** How far sending may run ahead of the rate: turns are in whole milliseconds. */
const slack = `interval '100 ms'`
// One row at most goes ahead at a time: the others find it changed, and look again at the condition.
const pass = statement(
  'campaigns.pass',
  `update campaigns set paced_until = ${usedUpUntil}, throttled_until = greatest(throttled_until, ${usedUpUntil})
    where project_id = $1 and id = $2 and paced_until <= greatest($4::timestamptz, now()) + ${slack}`
)
const names = ['triggers', 'targeted', 'sent', 'failed', 'skipped', 'delivered', 'tapped'] as const
const totals = statement(
  'campaigns.totals',
  `select ${names
    .map((name) => {
      const kept = name === 'triggers' ? 'count(t.id)' : `coalesce(sum(t.${name}), 0)`
      return `(${kept} + coalesce((c.past ->> '${name}')::bigint, 0))::float8 as ${name}`
    })
    .join(', ')}
     from campaigns c left join triggers t on t.project_id = $1 and t.campaign_id = c.id
    where c.project_id = $1 and c.id = $2 group by c.past`
)
const ofTopic = statement(
  'campaigns.of_topic',
  `select id from campaigns where project_id = $1 and topic = $2 and status <> 'archived' order by id limit 11`
)
const erase = statement(
  'campaigns.erase_window',
  `delete from campaigns where project_id = $1 and id in (
     select id from campaigns where project_id = $1 order by id limit 1000)`
)

/** A version to be written. */
export interface NewVersion {
  definition: Campaign
  /** The segment with its saved segments written out; undefined: it refers to none. */
  whole: Whole | undefined
  actor: string
  at: Date
}

const segmentOf = (whole: Whole | undefined) => (whole ? JSON.stringify(whole.segment) : null)

const fieldsOf = (campaign: Campaign) => [
  campaign.name,
  campaign.type,
  campaign.status,
  campaign.topic ?? null,
  isTransactional(campaign)
]

/** Returns false if the id exists, or the project is being erased. */
export async function insertCampaign(
  tx: Db,
  projectId: ProjectId,
  id: string,
  { definition, whole, actor, at }: NewVersion
) {
  const inserted = await tx.run(insert, [projectId, id, ...fieldsOf(definition), whole?.refs ?? null, at])
  if (inserted === 0) return false
  await tx.run(insertVersion, [projectId, id, 1, JSON.stringify(definition), actor, at, segmentOf(whole)])
  return true
}

/** The caller has locked the campaign, so its version is current. */
export async function addVersion(
  tx: Db,
  projectId: ProjectId,
  id: string,
  number: number,
  { definition, whole, actor, at }: NewVersion
) {
  await tx.run(insertVersion, [projectId, id, number, JSON.stringify(definition), actor, at, segmentOf(whole)])
  await tx.run(update, [projectId, id, number, ...fieldsOf(definition), whole?.refs ?? null, at])
}

export const findCampaign = (db: Db, projectId: ProjectId, id: string) => db.one<CampaignRow>(find, [projectId, id])

/** Locks a campaign until the end of the transaction: others can neither save it nor check its frequency cap. */
export const lockCampaign = async (tx: Db, projectId: ProjectId, id: string): Promise<boolean> =>
  (await tx.query(lock, [projectId, id])).length > 0

export const listCampaigns = (
  db: Db,
  projectId: ProjectId,
  status: string | undefined,
  after: [Date, string] | undefined,
  limit: number,
  /** A part of the id or of the name, in upper or lower case. */
  text?: string
) =>
  db.query<CampaignRow>(list, [projectId, status ?? null, after?.[0] ?? null, after?.[1] ?? null, limit, text ?? null])

export const listVersions = (db: Db, projectId: ProjectId, id: string, before: number | null, limit: number) =>
  db.query<VersionRow>(versions, [projectId, id, before, limit])

/** A version with the saved segments that it had, written out. */
export async function findVersion(db: Db, projectId: ProjectId, id: string, number: number) {
  const row = await db.one<Pick<CampaignRow, 'definition' | 'whole_segment'>>(version, [projectId, id, number])
  return row?.whole_segment ? { ...row.definition, segment: row.whole_segment } : row?.definition
}

/** The segment of a version as it was written, with the names of its saved segments. */
export const writtenSegment = async (db: Db, projectId: ProjectId, id: string, number: number) =>
  (await db.one<Pick<CampaignRow, 'definition'>>(version, [projectId, id, number]))?.definition.segment

/** The campaigns that refer to a saved segment, by way of others too. Archived ones do not count. */
export const campaignsUsing = async (db: Db, projectId: ProjectId, segmentId: string, limit: number | null) =>
  (await db.query<{ id: string }>(using, [projectId, segmentId, limit])).map(({ id }) => id)

/** The fields that decide whether a campaign can be triggered. */
export const factsOf = (db: Db, projectId: ProjectId, id: string) =>
  db.one<Pick<Campaign, 'type' | 'status'> & { version: number }>(facts, [projectId, id])

export type Totals = Record<(typeof names)[number], number>

/** The counters of all triggers of a campaign, including deleted ones. */
export const totalsOf = (db: Db, projectId: ProjectId, id: string) => db.one<Totals>(totals, [projectId, id])

const durationOf = (messages: number, perSecond: number) => (messages * 1000) / perSecond

/** How much of a delay since its turn a batch may make up for. */
const creditMs = 500

/** Reserves time for messages at the end of the plan. Returns when it begins. */
export const reserveThrottle = async (
  tx: Db,
  projectId: ProjectId,
  id: string,
  messages: number,
  perSecond: number
): Promise<Date> =>
  (await tx.one<{ from_at: Date }>(reserve, [projectId, id, durationOf(messages, perSecond)]))?.from_at ?? new Date()

/** Of two batches that want turns, the second one waits and sees those of the first. Returns the time of the database. */
export const lockThrottle = async (tx: Db, projectId: ProjectId, id: string): Promise<Date> =>
  (await tx.one<{ at: Date }>(lockThrottled, [projectId, id]))?.at ?? new Date()

/** Whether the pace lets messages go, whose turn has come at a time, or that have had none. If so, it counts them as sent. */
export const passThrottle = async (
  tx: Db,
  projectId: ProjectId,
  id: string,
  messages: number,
  perSecond: number,
  turn: Date | null
): Promise<boolean> =>
  (await tx.run(pass, [projectId, id, durationOf(messages, perSecond), turn, turn ? creditMs : 0])) > 0

/** The ids of some campaigns that use a topic. Archived ones can no longer be triggered, so they do not count. */
export const campaignsOfTopic = async (db: Db, projectId: ProjectId, topic: string): Promise<string[]> =>
  (await db.query<{ id: string }>(ofTopic, [projectId, topic])).map(({ id }) => id)

export const eraseCampaignWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
