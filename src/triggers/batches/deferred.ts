import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { addToCounters, type Delta, nothing, type OnEnded, tally } from '../counters-store.ts'

/** A chunk from which devices were taken. */
interface Taken {
  trigger_id: string
  number: number
  devices: number
  empty: boolean
}

// Looks through what the project holds now: 0.1 ms for a thousand devices. An index of them would cost more than that for
// each chunk that is held. Locked in order, so that two who take from the same chunks do not wait for each other.
const take = statement(
  'trigger_chunks.take_held',
  `with own as (select array_agg(id::text) as ids from devices where project_id = $1 and user_id = any($2::uuid[])),
   held as (
     select trigger_id, number, cardinality(device_ids) as devices from trigger_chunks
      where project_id = $1 and held and state = 'planned' and device_ids && (select ids from own)
      order by trigger_id, number for update)
   update trigger_chunks c
      set device_ids = array(
        select d.id from unnest(c.device_ids) with ordinality as d(id, place)
         where d.id <> all((select ids from own)::text[]) order by d.place)
     from held h
    where c.project_id = $1 and c.trigger_id = h.trigger_id and c.number = h.number
   returning c.trigger_id, c.number, h.devices - cardinality(c.device_ids) as devices,
             cardinality(c.device_ids) = 0 as empty`
)
const removeEmpty = statement(
  'trigger_chunks.delete_empty',
  `delete from trigger_chunks c using unnest($2::uuid[], $3::int[]) as e(trigger_id, number)
    where c.project_id = $1 and c.trigger_id = e.trigger_id and c.number = e.number`
)

/**
 * Before users are removed, when their devices are locked, so that nothing more is held for them: takes these out of what
 * quiet hours hold, and counts them as canceled, like what was queued.
 */
export async function removeHeld(tx: Db, projectId: ProjectId, userIds: string[], onEnded: OnEnded): Promise<void> {
  const taken = await tx.query<Taken>(take, [projectId, userIds])
  if (taken.length === 0) return
  const deltas = new Map<string, Delta>()
  for (const { trigger_id: id, devices, empty } of taken) {
    const delta = deltas.get(id) ?? nothing(id)
    deltas.set(id, delta)
    delta.skipped += devices
    tally(delta.skippedFor, 'canceled', devices)
    if (empty) delta.openChunks -= 1
  }
  const gone = taken.filter(({ empty }) => empty)
  const [triggerIds, numbers] = [gone.map(({ trigger_id }) => trigger_id), gone.map(({ number }) => number)]
  await tx.run(removeEmpty, [projectId, triggerIds, numbers])
  await addToCounters(tx, projectId, [...deltas.values()], onEnded)
}
