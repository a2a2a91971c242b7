import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Period } from './period.ts'

export type By = 'variant' | 'language' | 'step'

/** The word that stands in place of a variant where a user was held out. */
export const holdout = 'holdout'

export const names = [
  'targeted',
  'sent',
  'failed',
  'skipped',
  'delivered',
  'tapped',
  'users',
  'converted',
  'conversion_value'
] as const
export type Figures = Record<(typeof names)[number], number>

/** Sums over the period, over a point of it (`at`), over a group of it (`key`), or over both. */
export interface SumRow {
  at: Date | null
  key: string | null
  /** Whether `at` and `key` are summed over. */
  over_at: boolean
  over_key: boolean
  /** Whether the group is the holdout. */
  held: boolean | null
  /** Bigints and decimals arrive as text. */
  sums: Record<keyof Figures | 'sent_users' | 'sent_converted' | 'sent_value', string>
}

const sumOf = (name: string) => `coalesce(sum(${name}), 0)::text`
const sentOf = (name: string) => `coalesce(sum(${name}) filter (where not held), 0)::text`
// Decimals are summed here: in JavaScript 0.1 and 0.2 would not be 0.3.
const read = statement(
  'campaign_stats.read',
  `select at, key, held, grouping(at) = 1 as over_at, grouping(key) = 1 as over_key,
          json_build_object(${names.map((name) => `'${name}', ${sumOf(name)}`).join(', ')},
            'sent_users', ${sentOf('users')}, 'sent_converted', ${sentOf('converted')},
            'sent_value', ${sentOf('conversion_value')}) as sums
     from (select date_bin($5::float8 * interval '1 ms', hour, 'epoch'::timestamptz) as at, variant = '${holdout}' as held,
                  case when variant = '${holdout}' then variant when $6 = 'variant' then variant
                       when $6 = 'language' then language when $6 = 'step' then step else '' end as key,
                  ${names.join(', ')}
             from campaign_stats where project_id = $1 and campaign_id = $2 and hour >= $3 and hour < $4) s
    group by grouping sets ((), (at), (key, held), (at, key, held))
    order by at, key`
)
/** Sums over all campaigns: over the period, over a point of it, or over a campaign. */
export interface ProjectRow extends Pick<SumRow, 'at' | 'sums' | 'over_at'> {
  campaign_id: string | null
  name: string | null
}

// The holdout stays out of users and conversions: nothing was sent to its users.
const readProject = statement(
  'campaign_stats.read_project',
  `select s.*, c.name
     from (select at, campaign_id, grouping(at) = 1 as over_at, grouping(campaign_id) = 1 as over_campaign,
                  sum(targeted) as targeted,
                  json_build_object(${names
                    .map((name) => `'${name}', ${/users|conver/.test(name) ? sentOf(name) : sumOf(name)}`)
                    .join(', ')}) as sums
             from (select date_bin($4::float8 * interval '1 ms', hour, 'epoch'::timestamptz) as at, campaign_id,
                          variant = '${holdout}' as held, ${names.join(', ')}
                     from campaign_stats where project_id = $1 and hour >= $2 and hour < $3) h
            group by grouping sets ((), (at), (campaign_id))) s
     left join campaigns c on c.project_id = $1 and c.id = s.campaign_id
    order by over_campaign desc, targeted desc limit $5`
)
const ofVariants = statement(
  'campaign_stats.of_variants',
  `select v.variant, ${['sent', 'delivered', 'tapped', 'users', 'converted'].map((name) => `coalesce(sum(s.${name}), 0)::float8 as ${name}`).join(', ')}
     from unnest($4::text[]) as v(variant)
     left join campaign_stats s on s.project_id = $1 and s.campaign_id = $2 and s.step = $3 and s.variant = v.variant
    group by v.variant`
)
// Slots of past hours become one row. Late figures of such an hour may open a slot again, and are folded later.
const fold = statement(
  'campaign_stats.fold',
  `with old as (
     select campaign_id, hour, variant, language, step, slot from campaign_stats
      where project_id = $1 and hour < $2 and slot > 0 order by hour limit 1000 for update skip locked),
   gone as (
     delete from campaign_stats s using old o
      where s.project_id = $1 and s.campaign_id = o.campaign_id and s.hour = o.hour and s.variant = o.variant
        and s.language = o.language and s.step = o.step and s.slot = o.slot
     returning s.*),
   kept as (
     insert into campaign_stats (project_id, campaign_id, hour, variant, language, step, slot, ${names.join(', ')})
     select project_id, campaign_id, hour, variant, language, step, 0, ${names.map((name) => `sum(${name})`).join(', ')}
       from gone group by project_id, campaign_id, hour, variant, language, step
      order by campaign_id, hour, variant, language, step
     on conflict (project_id, campaign_id, hour, variant, language, step, slot) do update
        set ${names.map((name) => `${name} = campaign_stats.${name} + excluded.${name}`).join(', ')})
   select count(*)::int as folded from gone`
)
const sweep = statement(
  'campaign_stats.sweep_window',
  `delete from campaign_stats where project_id = $1 and hour < $2 and (campaign_id, hour, variant, language, step, slot) in (
     select campaign_id, hour, variant, language, step, slot from campaign_stats
      where project_id = $1 and hour < $2 order by hour limit 5000)`
)
const erase = statement(
  'campaign_stats.erase_window',
  `delete from campaign_stats where project_id = $1 and (campaign_id, hour, variant, language, step, slot) in (
     select campaign_id, hour, variant, language, step, slot from campaign_stats where project_id = $1 limit 5000)`
)

/** The results of one variant. */
export type Results = Record<'sent' | 'delivered' | 'tapped' | 'users' | 'converted', number>

export async function resultsOfVariants(
  db: Db,
  projectId: ProjectId,
  campaignId: string,
  step: string,
  variants: readonly string[]
): Promise<Map<string, Results>> {
  const rows = await db.query<Results & { variant: string }>(ofVariants, [projectId, campaignId, step, variants])
  return new Map(rows.map(({ variant, ...results }) => [variant, results]))
}

export const readSums = (
  db: Db,
  projectId: ProjectId,
  campaignId: string,
  { fromMs, untilMs, stepMs }: Period,
  by: By | undefined
) => db.query<SumRow>(read, [projectId, campaignId, new Date(fromMs), new Date(untilMs), stepMs, by ?? ''])

/** All points and the total, and as many campaigns as `most`, those with the most targets first. */
export const readProjectSums = (db: Db, projectId: ProjectId, { fromMs, untilMs, stepMs }: Period, most: number) =>
  db.query<ProjectRow>(readProject, [
    projectId,
    new Date(fromMs),
    new Date(untilMs),
    stepMs,
    1 + (untilMs - fromMs) / stepMs + most
  ])

/** Folds up to 1,000 rows of hours before this one. Returns how many. */
export const foldSlots = async (db: Db, projectId: ProjectId, before: Date): Promise<number> =>
  (await db.one<{ folded: number }>(fold, [projectId, before]))!.folded

export const sweepStats = (db: Db, projectId: ProjectId, before: Date) => db.run(sweep, [projectId, before])

export const eraseStatsWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
