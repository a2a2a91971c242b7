import type { Transaction } from '../platform/db/db.ts'
import { lostRace } from '../platform/db/races.ts'
import { statement } from '../platform/db/statement.ts'
import { type ProjectId, timeOfId } from '../platform/ids.ts'
import { type MessageRow, openStates } from './message.ts'
import { inKeyOrder, keyOf, releasedAt } from './store.ts'

// Rows are settled in the given order, so that two batches cannot wait for each other. A settled row stays unchanged. A
// message that is to be repeated is released only if it is as it was claimed: this statement may be a repeat whose
// first response was lost, and another run may have dispatched the message since. A final state is written in any case.
// The insert always finds its row, so it is an update that can only use the primary key. With a join the planner would
// rely on statistics, which do not know a project that has just begun: it read all messages of the project for each
// row. Nothing is locked in advance, because that crashes PostgreSQL 18 (docs/decisions/0034). So a row may be deleted
// in between: then the insert writes a new row, marked as `deleted`.
const deleted = -1
const settling = (narrowed: string) => `
   insert into messages as kept (project_id, trigger_id, device_id, state, due_at, attempts, retries, gateway_message_id,
          reason, reason_message, gateway_code, settled_at, owner, handed_at, message_id, push_id, place, not_after, content,
          collapse_id, priority, simulated, created_at)
   select m.project_id, g.trigger_id, g.device_id, g.to_state, g.due_at, g.attempts, coalesce(g.retries, '{}'),
          g.gateway_message_id, g.reason, g.reason_message, g.gateway_code,
          case when g.due_at is null then $3::timestamptz end, g.held_by, g.held_until, m.message_id, m.message_id, ${deleted},
          $3, '{}', '', 'high', false, $3
     from json_to_recordset($2::json)
       as g(trigger_id uuid, device_id text, message_id uuid, user_id uuid, to_state text, due_at timestamptz,
            attempts int, retries jsonb, gateway_message_id text, reason text, reason_message text, gateway_code text,
            held_by uuid, held_until timestamptz)
    cross join lateral (
      select m.project_id, m.message_id from messages m
       where m.project_id = $1 and m.trigger_id = g.trigger_id and m.device_id = g.device_id ${narrowed}
         and m.state in ${openStates}
      offset 0) m
   on conflict (project_id, trigger_id, device_id) do update
      set state = excluded.state, due_at = excluded.due_at, attempts = excluded.attempts, retries = excluded.retries,
          gateway_message_id = excluded.gateway_message_id, reason = excluded.reason,
          reason_message = excluded.reason_message, gateway_code = excluded.gateway_code,
          settled_at = excluded.settled_at, owner = null
    where kept.state in ${openStates}
      and (excluded.due_at is null
           or (kept.owner is not distinct from excluded.owner
               and coalesce(kept.due_at, ${releasedAt('kept')}) = coalesce(excluded.handed_at, ${releasedAt('kept')})))
   returning kept.trigger_id, kept.device_id, kept.user_id, kept.place`
// With all of these conditions, each index that the planner may choose leads to the one row.
const settle = statement('messages.settle', settling('and m.message_id = g.message_id and m.user_id = g.user_id'))
const settleMoved = statement('messages.settle_moved', settling(''))

// Most messages are accepted at the first attempt. Their rows are looked up by their keys, one by one, and then changed where
// they lie, which costs less than an upsert (docs/decisions/0068 has figures). Planned by statistics, which do not know a
// trigger that has just begun, the update read all messages of the trigger each time. A gateway that repeats the id of the
// push is not quoted. No id contains control characters, so the result is one text.
interface Accepted {
  /** The triggers of the messages. */
  triggers: string
  /** A list beside those of devices, messages and users, its name, and how it leads to the message. */
  list?: string
  name?: string
  match?: string
  /** What names a message in the result. */
  key: string
}
const accepting = ({ triggers, list = '', name = '', match = '', key }: Accepted) => `
   with found as materialized (
     select m.ctid as place
       from unnest($4::text[], $5::uuid[], $6::uuid[]${list}) as g(device_id, message_id, user_id${name})
      cross join lateral (
        select ctid from messages
         where project_id = $1 and ${triggers} ${match} and device_id = g.device_id and message_id = g.message_id
           and user_id = g.user_id and state in ${openStates}
        offset 0) m),
   done as (
     update messages
        set state = 'accepted', due_at = null, attempts = 1, settled_at = $2, owner = null,
            gateway_message_id = coalesce($3::jsonb ->> push_id::text, push_id::text)
      where project_id = $1 and ${triggers} and ctid = any(array(select place from found)) and state in ${openStates}
     returning trigger_id, device_id, user_id)
   select string_agg(${key} || ' ' || user_id::text, chr(30)) as done from done`
const acceptOfTrigger = statement('messages.accept', accepting({ triggers: 'trigger_id = $7', key: 'device_id' }))
// All of one month: in the tables of two months different rows have the same place.
const acceptOfMonth = statement(
  'messages.accept_of_month',
  accepting({
    triggers: 'trigger_id >= $7 and trigger_id <= $8',
    list: ', $9::uuid[]',
    name: ', trigger_id',
    match: 'and trigger_id = g.trigger_id',
    key: 'trigger_id::text || device_id'
  })
)
// An index could lead the update to the rows too, and looks cheaper if it seems to lead to few. Where every kind of
// scan is discouraged, the places of the rows win, and the look-up takes the index that leads to one row, as before. So
// there is one plan for all values, and it is kept: making it takes as long as settling twenty messages. Citus needs the
// values to find the shard.
const byPlace = statement(
  'messages.by_place',
  `select set_config('enable_indexscan', $1, true), set_config('enable_bitmapscan', $1, true),
          set_config('enable_seqscan', $1, true), set_config('plan_cache_mode', $2, true)`
)
/** With fewer messages the statement for all kinds of outcomes is cheaper. */
const fewest = 5

export type Settlement = Pick<
  MessageRow,
  | 'trigger_id'
  | 'device_id'
  | 'message_id'
  | 'push_id'
  | 'campaign_id'
  | 'variant'
  | 'language'
  | 'step'
  | 'user_id'
  | 'state'
  | 'due_at'
  | 'attempts'
  | 'retries'
  | 'gateway_message_id'
  | 'reason'
  | 'reason_message'
  | 'gateway_code'
> & {
  /** The owner and the time that the row had when it was claimed. */
  claimed: Pick<MessageRow, 'owner' | 'due_at'>
}

/** Writes outcomes, and returns those that were not settled before, each with the user that it belongs to now. */
export async function settleMessages(tx: Transaction, projectId: ProjectId, settlements: Settlement[], at: Date) {
  const done: Settlement[] = []
  const others: Settlement[] = []
  for (const group of byMonth(settlements.toSorted(inKeyOrder))) {
    const plain = group.filter(isPlain)
    const many = plain.length >= fewest
    if (many) done.push(...(await acceptMany(tx, projectId, plain, at)))
    others.push(...(many ? group.filter((one) => !isPlain(one)) : group))
  }
  if (others.length > 0) done.push(...(await settleEach(tx, projectId, settle, others, at)))
  if (done.length === settlements.length) return done
  // The missing messages were settled before, deleted with their user, or belong to another user by now.
  const found = new Set(done.map(keyOf))
  const missed = settlements.filter((one) => !found.has(keyOf(one)))
  return [...done, ...(await settleEach(tx, projectId, settleMoved, missed, at))]
}

/** Settlements by the month of their trigger, for which messages have a table. */
function byMonth(sorted: Settlement[]): Iterable<Settlement[]> {
  const monthOf = ({ trigger_id }: Settlement) => new Date(timeOfId(trigger_id)).toISOString().slice(0, 7)
  return monthOf(sorted[0]!) === monthOf(sorted.at(-1)!) ? [sorted] : Map.groupBy(sorted, monthOf).values()
}

const isPlain = ({ state, attempts, reason, retries, gateway_message_id, user_id }: Settlement): boolean =>
  state === 'accepted' &&
  attempts === 1 &&
  reason === null &&
  gateway_message_id !== null &&
  user_id !== null &&
  isEmpty(retries)

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

/** Settles messages of one month that gateways accepted at once, in the order of their keys. */
async function acceptMany(tx: Transaction, projectId: ProjectId, plain: Settlement[], at: Date): Promise<Settlement[]> {
  const ids = plain.every((one) => one.gateway_message_id === one.push_id)
    ? null
    : JSON.stringify(Object.fromEntries(plain.map((one) => [one.push_id, storable(one.gateway_message_id)])))
  const [first, last] = [plain[0]!.trigger_id, plain.at(-1)!.trigger_id]
  const values = [
    projectId,
    at,
    ids,
    plain.map(({ device_id }) => device_id),
    plain.map(({ message_id }) => message_id),
    plain.map(({ user_id }) => user_id),
    first
  ]
  if (first !== last)
    values.push(
      last,
      plain.map(({ trigger_id }) => trigger_id)
    )
  // One round trip for all of them.
  const [, [row]] = await Promise.all([
    tx.run(byPlace, ['off', tx.isDistributed ? 'auto' : 'force_generic_plan']),
    tx.query<{ done: string | null }>(first === last ? acceptOfTrigger : acceptOfMonth, values),
    tx.run(byPlace, ['on', 'auto'])
  ])
  const nameOf = (one: Settlement) => (first === last ? one.device_id : keyOf(one))
  const done = row?.done ?? ''
  if (done === plain.map((one) => `${nameOf(one)} ${one.user_id}`).join('\x1e')) return plain
  const byName = new Map(plain.map((one) => [nameOf(one), one]))
  return done.split('\x1e').flatMap((text) => {
    const end = text.lastIndexOf(' ')
    const one = byName.get(text.slice(0, end))
    const user_id = text.slice(end + 1)
    return one ? [one.user_id === user_id ? one : { ...one, user_id }] : []
  })
}

async function settleEach(
  tx: Transaction,
  projectId: ProjectId,
  text: typeof settle,
  some: Settlement[],
  at: Date
): Promise<Settlement[]> {
  const sorted = some.toSorted(inKeyOrder)
  const rows = await tx.query<Pick<MessageRow, 'trigger_id' | 'device_id' | 'user_id' | 'place'>>(text, [
    projectId,
    JSON.stringify(sorted.map(brief)),
    at
  ])
  // Makes the caller roll its transaction back and repeat it.
  if (rows.some(({ place }) => place === deleted))
    throw lostRace('A message was removed while its outcome was recorded.')
  const byKey = new Map(sorted.map((one) => [keyOf(one), one]))
  return rows.map((row) => {
    const one = byKey.get(keyOf(row))!
    return one.user_id === row.user_id ? one : { ...one, user_id: row.user_id }
  })
}

/** Drops characters of a gateway's message that the database refuses: an unsettled message would be sent again. */
const storable = (text: string | null) => text?.replaceAll('\0', '').toWellFormed()

/** Leaves out null and empty fields, which most fields are. */
const brief = ({ trigger_id, device_id, message_id, user_id, state, attempts, retries, ...rest }: Settlement) => ({
  trigger_id,
  device_id,
  message_id,
  user_id,
  to_state: state,
  attempts,
  ...(Object.keys(retries).length > 0 && { retries }),
  due_at: rest.due_at ?? undefined,
  gateway_message_id: storable(rest.gateway_message_id),
  reason: rest.reason ?? undefined,
  reason_message: storable(rest.reason_message),
  gateway_code: storable(rest.gateway_code),
  ...(rest.due_at !== null && {
    held_by: rest.claimed.owner ?? undefined,
    held_until: rest.claimed.due_at ?? undefined
  })
})
