import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { holdout } from './store.ts'

/** A campaign that counts events of a name as success. */
export interface Goal {
  campaign_id: string
  conversion: { event: string; within: string; value_property?: string }
}

/** An event that counts as a conversion if its user has received a message in time. */
export interface Candidate {
  /** The place in the list that was given. */
  n: number
  campaign_id: string
  user_id: string
  since: Date
  at: Date
}

/** What the success of an event is credited to. */
export interface Credit {
  n: number
  trigger_id: string
  /** Null: the user was held out. */
  message_id: string | null
  variant: string
  language: string
  step: string
}

export interface Conversion extends Omit<Credit, 'n'> {
  campaign_id: string
  user_id: string
  at: Date
  /** A decimal, as text. */
  value: string
  /** Whether this is the first event of the user for this trigger in the list. */
  leads: boolean
}

const ofUser = statement(
  'conversions.of_user',
  `select campaign_id, trigger_id, message_id, converted_at from conversions
    where project_id = $1 and user_id = $2 order by converted_at desc, trigger_id limit 10000`
)
const goals = statement(
  'stats.goals',
  `select c.id as campaign_id, v.definition -> 'conversion' as conversion
     from (select distinct campaign_id from wanted_events where project_id = $1 and name = any($2::text[])) w
     join campaigns c on c.project_id = $1 and c.id = w.campaign_id
     join campaign_versions v on v.project_id = $1 and v.campaign_id = c.id and v.version = c.version
    where v.definition -> 'conversion' ->> 'event' = any($2::text[])`
)
const credit = statement(
  'stats.credit',
  `select g.n, last.trigger_id, last.message_id, coalesce(last.variant, '') as variant,
          coalesce(last.language, '') as language, coalesce(last.step, '') as step
     from json_to_recordset($2::json)
       as g(n int, campaign_id text, user_id uuid, since timestamptz, at timestamptz)
    cross join lateral (
      (select m.trigger_id, m.message_id, m.variant, m.language, m.step, coalesce(m.handed_at, m.created_at) as sent_at
         from messages m
        where m.project_id = $1 and m.user_id = g.user_id and m.campaign_id = g.campaign_id and m.state = 'accepted'
          and coalesce(m.handed_at, m.created_at) > g.since and coalesce(m.handed_at, m.created_at) <= g.at
        order by sent_at desc limit 1)
      union all
      (select s.trigger_id, null, '${holdout}', null, t.step, s.at
         from trigger_skips s join triggers t on t.project_id = $1 and t.id = s.trigger_id
        where s.project_id = $1 and s.user_id = g.user_id and s.reason = '${holdout}' and t.campaign_id = g.campaign_id
          and s.at > g.since and s.at <= g.at
        order by s.at desc limit 1)
      order by sent_at desc limit 1) last`
)
/** A slot that counters of triggers do not use: they would wait until a batch of events is handled. */
const slot = 8

// Users are locked before triggers, as when users are deleted. Both are locked in subqueries: Citus writes the rows of a
// part that locks rows itself in another form than it reads them in.
const add = statement(
  'conversions.add',
  `with given as materialized (
     select g.* from json_to_recordset($2::json)
         as g(trigger_id uuid, user_id uuid, campaign_id text, message_id uuid, at timestamptz, hour timestamptz,
              variant text, language text, step text, value numeric, leads boolean)),
   known as materialized (
     select id from (
       select u.id from users u where u.project_id = $1 and u.id in (select user_id from given) order by u.id for key share
     ) u),
   held as materialized (
     select id from (
       select t.id from triggers t
        where t.project_id = $1 and t.id in (select g.trigger_id from given g join known k on k.id = g.user_id)
        order by t.id for no key update) t),
   counted as materialized (
     select g.* from given g join known k on k.id = g.user_id join held h on h.id = g.trigger_id),
   added as (
     insert into conversions (project_id, trigger_id, user_id, campaign_id, message_id, converted_at)
     select $1, trigger_id, user_id, campaign_id, message_id, at from counted where leads
     on conflict (project_id, trigger_id, user_id) do nothing
     returning trigger_id, user_id),
   shares as materialized (
     select c.trigger_id, c.campaign_id, c.hour, c.variant, c.language, c.step, c.value,
            (c.leads and a.user_id is not null)::int as converted
       from counted c left join added a on a.trigger_id = c.trigger_id and a.user_id = c.user_id),
   sums as (
     select trigger_id, sum(converted) as converted, sum(value) as value from shares group by trigger_id),
   on_triggers as (
     update triggers t
        set converted = t.converted + s.converted, conversion_value = t.conversion_value + s.value
       from sums s where t.project_id = $1 and t.id = s.trigger_id),
   results as (
     insert into campaign_stats (project_id, campaign_id, hour, variant, language, step, slot, targeted, sent, failed,
       skipped, delivered, tapped, users, converted, conversion_value)
     select $1, campaign_id, hour, variant, language, step, ${slot}, 0, 0, 0, 0, 0, 0, 0, sum(converted), sum(value)
       from shares group by campaign_id, hour, variant, language, step
      order by campaign_id, hour, variant, language, step
     on conflict (project_id, campaign_id, hour, variant, language, step, slot) do update
        set converted = campaign_stats.converted + excluded.converted,
            conversion_value = campaign_stats.conversion_value + excluded.conversion_value)
   select trigger_id, user_id from added`
)
// A user who converted under both accounts stays counted twice: at that time they were two.
const move = statement(
  'conversions.move',
  `with moved as (
     delete from conversions where project_id = $1 and user_id = $2
     returning trigger_id, campaign_id, message_id, converted_at)
   insert into conversions (project_id, trigger_id, user_id, campaign_id, message_id, converted_at)
   select $1, trigger_id, $3, campaign_id, message_id, converted_at from moved
   on conflict (project_id, trigger_id, user_id) do nothing`
)
const erase = statement(
  'conversions.erase_window',
  `delete from conversions where project_id = $1 and (trigger_id, user_id) in (
     select trigger_id, user_id from conversions where project_id = $1 limit 5000)`
)

/** The campaigns that count events of these names as success, by the version that is saved now. */
export const findGoals = (tx: Db, projectId: ProjectId, names: string[]) => tx.query<Goal>(goals, [projectId, names])

/** For each candidate, the campaign's last message that was sent to the user in time, or the skip of the holdout. */
export const findCredits = (tx: Db, projectId: ProjectId, candidates: Candidate[]) =>
  tx.query<Credit>(credit, [projectId, JSON.stringify(candidates)])

/** Counts conversions, and returns those whose user had not converted for the trigger before. */
export const addConversions = (tx: Db, projectId: ProjectId, conversions: (Conversion & { hour: Date })[]) =>
  tx.query<{ trigger_id: string; user_id: string }>(add, [projectId, JSON.stringify(conversions)])

/** The newest ten thousand. */
export const conversionsOfUser = (db: Db, projectId: ProjectId, userId: string) => db.query(ofUser, [projectId, userId])

export const moveConversions = (tx: Db, projectId: ProjectId, fromUserId: string, toUserId: string) =>
  tx.run(move, [projectId, fromUserId, toUserId])

export const eraseConversionWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
