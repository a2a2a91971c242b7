import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { hourOf, pickSlot } from './counter-store.ts'

/** A user whom a batch has counted. */
export interface CountedUser {
  user_id: string
  /** The part in which the user counts. */
  variant: string
  language: string
}

// The trigger is compared as text, so that no plan starts from it: it may have a million messages, a user has few. The
// statement is planned anew each time: a plan that was made for an empty month reads all messages of the project for
// each user. The planner does not see the devices: it would estimate the share of each of a thousand in each month, which
// took 6 ms of a batch's 90.
const uncount = statement(
  'triggers.uncount_users',
  `insert into campaign_stats (project_id, campaign_id, hour, variant, language, step, slot, targeted, sent, failed,
     skipped, delivered, tapped, users, converted, conversion_value)
   select $1, $3, $4, g.variant, g.language, $5, $6, 0, 0, 0, 0, 0, 0, -count(*), 0, 0
     from json_to_recordset($7::json) as g(user_id uuid, variant text, language text)
    cross join lateral (
      (select 1 from messages m
        where m.project_id = $1 and m.user_id = g.user_id and g.variant <> 'holdout' and m.trigger_id::text = $2
          and m.device_id <> all((select $8::text[])::text[]) limit 1)
      union all
      (select 1 from trigger_skips s
        where s.project_id = $1 and s.user_id = g.user_id and g.variant = 'holdout' and s.reason = 'holdout'
          and s.trigger_id::text = $2 and s.value <> all((select $8::text[])::text[]) limit 1)) another
    group by g.variant, g.language order by g.variant, g.language
   on conflict (project_id, campaign_id, hour, variant, language, step, slot) do update
      set users = campaign_stats.users + excluded.users`
)

/**
 * Takes back users whom an earlier batch of the trigger has counted. Runs after this batch was counted: the lock of the
 * trigger lets batches through one by one, and each sees the messages of those before it.
 */
export const uncountUsers = (
  tx: Db,
  projectId: ProjectId,
  { id, campaign_id, step }: { id: string; campaign_id: string; step?: string | null },
  users: CountedUser[],
  /** The devices of this batch. */
  deviceIds: string[]
) => {
  const values = [id, campaign_id, hourOf(new Date()), step ?? '', pickSlot(), JSON.stringify(users), deviceIds]
  return tx.adhoc(uncount.text, [projectId, ...values])
}
