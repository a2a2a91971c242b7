import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import { together } from '../../platform/db/together.ts'
import type { ProjectId } from '../../platform/ids.ts'

export interface SimulatorRow {
  /** Sealed. */
  credentials: string
  /** The faults by gateway, with the names of the API. */
  faults: Record<string, unknown>
  /** Counts the changes of phones; pg returns a bigint as text. */
  phones_number: string
}

const insert = statement(
  'simulators.insert',
  `insert into simulators (project_id, credentials, faults, last_number, created_at)
   select p.project_id, $2, '{}', 0, $3 from projects p where p.project_id = $1 and p.deleted_at is null
   on conflict do nothing`
)
const find = statement(
  'simulators.find',
  'select credentials, faults, phones_number from simulators where project_id = $1'
)
const lock = statement('simulators.lock', 'select faults from simulators where project_id = $1 for no key update')
const setFaults = statement('simulators.set_faults', 'update simulators set faults = $2 where project_id = $1')
// Updating last_number locks the row until the end of the transaction, so batches of several nodes do not interleave.
const take = statement(
  'simulators.take_numbers',
  'update simulators set last_number = last_number + $2 where project_id = $1 returning last_number'
)
// Runs after the statement above. As one statement with it, Citus would move the rows through the coordinator and commit on
// all servers in two phases.
const append = statement(
  'simulator_inbox.append',
  `insert into simulator_inbox (project_id, number, device_id, item, channel)
   select s.project_id, s.last_number - $4::bigint + entry.place, entry.device_id, entry.item, entry.channel
     from simulators s cross join unnest($2::text[], $3::text[], $5::text[])
       with ordinality as entry(device_id, item, channel, place)
    where s.project_id = $1`
)
// Runs after the statements above, which have locked the row of the simulator: its numbers are the last $2.
const subscribe = statement(
  'simulator_subscriptions.insert',
  `insert into simulator_subscriptions (project_id, channel, number, device_id)
   select i.project_id, i.channel, i.number, i.device_id
     from simulator_inbox i
     join simulators s on s.project_id = $1
     join simulator_channels c on c.project_id = $1 and c.id = i.channel
    where i.project_id = $1 and i.number > s.last_number - $2 and i.device_id is not null`
)
const count = statement(
  'simulator_subscriptions.count',
  `select count(*)::int as activities from simulator_subscriptions s
     join simulator_channels c on c.project_id = $1 and c.id = s.channel
    where s.project_id = $1 and s.channel = $2 and s.number > c.ended_number`
)
const endAll = statement(
  'simulator_channels.end_all',
  `update simulator_channels set ended_number = (select last_number from simulators where project_id = $1)
    where project_id = $1 and id = $2`
)
const trim = statement(
  'simulator_inbox.trim',
  // Pushes that wait for a phone stay longer.
  `delete from simulator_inbox where project_id = $1
      and number <= (select last_number - $2 from simulators where project_id = $1)
      and (phone is distinct from 'held'
           or number <= (select last_number - 10 * $2 from simulators where project_id = $1))`
)
const clear = statement('simulator_inbox.clear', 'delete from simulator_inbox where project_id = $1')
// Pushes to a device, and broadcasts to a channel that an activity on it had subscribed to.
const toDevice = `($3::text is null or device_id = $3
      or (device_id is null and channel is not null and exists (
            select 1 from simulator_subscriptions s
             where s.project_id = $1 and s.device_id = $3 and s.channel = simulator_inbox.channel
               and s.number < simulator_inbox.number)))`
const newest = statement(
  'simulator_inbox.newest',
  `select number, item from simulator_inbox
    where project_id = $1 and ($2::bigint is null or number < $2) and ${toDevice}
      and ($5::text is null or strpos(item, $5) > 0)
    order by number desc limit $4`
)
const following = statement(
  'simulator_inbox.following',
  `select number, item from simulator_inbox
    where project_id = $1 and number > $2 and ${toDevice}
    order by number limit $4`
)
const last = statement('simulator_inbox.last', 'select last_number from simulators where project_id = $1')

export const insertSimulator = (db: Db, projectId: ProjectId, credentials: string, at: Date) =>
  db.run(insert, [projectId, credentials, at])

export const findSimulator = (db: Db, projectId: ProjectId) => db.one<SimulatorRow>(find, [projectId])

/** Reads the faults and locks them until the transaction ends. */
export const lockFaults = (db: Db, projectId: ProjectId) => db.one<Pick<SimulatorRow, 'faults'>>(lock, [projectId])

export const storeFaults = (db: Db, projectId: ProjectId, faults: object) => db.run(setFaults, [projectId, faults])

/** pg returns a bigint as text. */
export interface InboxRow {
  number: string
  item: string
}

interface InboxEntry {
  deviceId: string | null
  /** The channel of a broadcast, or the one that an activity on the device subscribes to. */
  channel: string | null
  /** A broadcast that ends the activities of its channel. */
  ends: boolean
  text: string
}

/** Returns the number of the last item. The statements are sent together: they run in this order. */
export async function appendItems(tx: Db, projectId: ProjectId, items: InboxEntry[], kept: number): Promise<bigint> {
  const devices = items.map(({ deviceId }) => deviceId)
  const texts = items.map(({ text }) => text)
  const channels = items.map(({ channel }) => channel)
  let last = 0n
  const taken = tx.one<{ last_number: string }>(take, [projectId, items.length])
  await together(
    taken.then((row) => {
      last = BigInt(row?.last_number ?? 0)
    }),
    tx.run(append, [projectId, devices, texts, items.length, channels]),
    ...(items.some(({ channel, deviceId }) => channel !== null && deviceId !== null)
      ? [tx.run(subscribe, [projectId, items.length])]
      : []),
    ...items.flatMap(({ channel, ends }) => (ends ? [tx.run(endAll, [projectId, channel])] : [])),
    tx.run(trim, [projectId, kept])
  )
  return last
}

/** The simulated activities that listen to a channel. */
export const countActivities = async (db: Db, projectId: ProjectId, channel: string): Promise<number> =>
  (await db.one<{ activities: number }>(count, [projectId, channel]))?.activities ?? 0

export const clearItems = (db: Db, projectId: ProjectId) => db.run(clear, [projectId])

export interface Wanted {
  /** Only items with a lower number. */
  before: string | null
  deviceId: string | null
  messageId: string | null
  limit: number
}

export const newestItems = (db: Db, projectId: ProjectId, { before, deviceId, messageId, limit }: Wanted) =>
  db.query<InboxRow>(newest, [
    projectId,
    before,
    deviceId,
    limit,
    messageId === null ? null : `"message_id":${JSON.stringify(messageId)},`
  ])

export const itemsAfter = (db: Db, projectId: ProjectId, after: string, deviceId: string | null, limit: number) =>
  db.query<InboxRow>(following, [projectId, after, deviceId, limit])

export const lastNumber = async (db: Db, projectId: ProjectId): Promise<string> =>
  (await db.one<{ last_number: string }>(last, [projectId]))?.last_number ?? '0'
