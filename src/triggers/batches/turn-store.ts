import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

/** A planned batch that gets another turn at the throttle of its campaign. */
export interface Planned {
  number: number
  devices: number
}

// Those that are a second late have missed their turns, and those that quiet hours held have had none.
const missed = statement(
  'trigger_chunks.missed_turns',
  `select number, cardinality(device_ids) as devices
     from (select number, device_ids from trigger_chunks
            where project_id = $1 and trigger_id = $2 and state = 'planned'
              and (number = $3 and due_at <= now() + interval '1 s' or due_at <= now() - interval '1 s'
                or held and not turned and due_at <= now())
            order by number <> $3, due_at, number limit $4) b`
)
// A cancel ends the plan before the turns of other triggers.
const beyond = statement(
  'trigger_chunks.beyond_plan',
  `select number, cardinality(device_ids) as devices
     from (select b.number, b.device_ids
             from campaigns c join trigger_chunks b on b.project_id = $1 and b.trigger_id = $3
            where c.project_id = $1 and c.id = $2 and b.state = 'planned' and (b.turned or not b.held)
              and b.due_at > greatest(c.throttled_until, now()) + interval '5 s'
            order by b.due_at, b.number limit $4) b`
)
const give = statement(
  'trigger_chunks.give_turns',
  `update trigger_chunks b set due_at = g.due_at, turned = true, quiet_until = case when b.held then coalesce(b.quiet_until, b.due_at) end
     from json_to_recordset($3::json) as g(number int, due_at timestamptz)
    where b.project_id = $1 and b.trigger_id = $2 and b.number = g.number and b.state = 'planned'`
)
// A canceled trigger leaves its turns to others, whose pace paced_until keeps if turns coincide.
const free = statement(
  'triggers.free_turns',
  `update campaigns set throttled_until = now()
    where project_id = $1 and id = (select campaign_id from triggers where project_id = $1 and id = $2) and throttled_until > now()
      and exists (select from trigger_chunks where project_id = $1 and trigger_id = $2 and state = 'planned')`
)

/** Batches of a trigger that missed their turns; the one that asks comes first, unless it was given a turn meanwhile. */
export const missedTurns = (tx: Db, projectId: ProjectId, triggerId: string, number: number, most: number) =>
  tx.query<Planned>(missed, [projectId, triggerId, number, most])

/** Batches of a trigger whose turns are after the end of the plan. */
export const beyondPlan = (db: Db, projectId: ProjectId, campaignId: string, triggerId: string, most: number) =>
  db.query<Planned>(beyond, [projectId, campaignId, triggerId, most])

export const giveTurns = (tx: Db, projectId: ProjectId, triggerId: string, turns: { number: number; dueAt: Date }[]) =>
  tx.run(give, [projectId, triggerId, JSON.stringify(turns.map(({ number, dueAt }) => ({ number, due_at: dueAt })))])

/** Lets others take the turns that were planned for a trigger, before its batches are deleted. */
export const freeTurns = (tx: Db, projectId: ProjectId, triggerId: string) => tx.run(free, [projectId, triggerId])
