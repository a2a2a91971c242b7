import assert from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { ask, type Json } from '../http.ts'
import type { Receiver } from '../receiver.ts'
import type { Arrival } from './gateway.ts'
import { type Asked, project, secretKey } from './load.ts'

export interface Told {
  sql: (text: string, values?: unknown[]) => Promise<Json[]>
  /** A node that can be asked. */
  url: string
  asked: Asked[]
  arrivals: () => Arrival[]
  receiver: Receiver
  people: number
  /** The number of scheduled campaigns, each of which was sent once. */
  occurrences: number
}

/** Everything that was begun comes to an end. */
export const settled = ({ sql }: Pick<Told, 'sql'>, withinMs: number): Promise<void> =>
  eventually(async () => {
    const open = await sql(
      `select (select count(*)::int from messages where state in ('queued', 'handed', 'unknown')) as messages,
              (select count(*)::int from triggers where ended_at is null) as triggers,
              (select count(*)::int from a2a_tasks where due_at is not null) as tasks,
              (select count(*)::int from webhook_events) as events,
              (select count(*)::int from webhook_calls where state = 'pending') as calls,
              (select count(*)::int from dead_jobs) as dead`
    )
    assert.deepEqual(open, [{ messages: 0, triggers: 0, tasks: 0, events: 0, calls: 0, dead: 0 }])
  }, withinMs)

/** Compares what callers were told with rows, counters, arrivals and webhook calls. */
export async function assertNothingLost(told: Told): Promise<void> {
  const arrived = Map.groupBy(told.arrivals(), ({ title }) => title)
  const distinct = (name: string) =>
    new Set(arrived.get(name)?.map(({ token, collapseId }) => `${token} ${collapseId}`))
  const counted = async (text: string) => new Map((await told.sql(text)).map(({ name, ...rest }) => [name, rest]))
  const users = await counted('select project_user_id as name, count(*)::int as n from users group by 1')
  const messages = await counted(
    `select content #>> '{notification,title}' as name, count(*)::int as n,
            count(*) filter (where state = 'accepted')::int as sent,
            count(*) filter (where reason = 'CONNECTION_LOST' and retries ->> 'lost' = '2')::int as cut
       from messages group by 1`
  )
  const triggers = await counted(
    `select properties ->> 'name' as name, count(*)::int as n, sum(sent)::int as sent, sum(targeted)::int as targeted,
            bool_and(state = 'completed') as completed from triggers where campaign_id = 'news' group by 1`
  )
  const nothing = { n: 0, sent: 0, cut: 0 }
  for (const { kind, name, state } of told.asked) {
    const said = `${kind} ${name} ${state ?? ''}`
    if (kind === 'user' || kind === 'agent-user') {
      if (kind === 'agent-user') assert.equal(state, 'completed', said)
      assert.deepEqual(users.get(name), { n: 1 }, said)
      continue
    }
    const rows = kind === 'broadcast' ? told.people : 1
    const row = messages.get(name) ?? nothing
    // A message whose connection was cut at each of its three attempts has failed, and callers are told so.
    const sent = rows - row.cut
    if (kind === 'trigger' || kind === 'broadcast')
      assert.deepEqual(triggers.get(name), { n: 1, sent, targeted: rows, completed: true }, said)
    // An interrupted task may fail with the remark that it may have been done. It is never done twice.
    if (kind === 'agent-push' && state === 'failed') assert.ok(row.n <= 1 && row.sent + row.cut === row.n, said)
    else assert.deepEqual(row, { n: rows, sent, cut: row.cut }, said)
    const arrivedOnce = distinct(name).size
    assert.ok(arrivedOnce >= row.sent && arrivedOnce <= row.n, `${said}: ${arrivedOnce} arrived, ${row.sent} were sent`)
  }
  for (let n = 0; n < told.occurrences; n += 1) {
    const row = messages.get(`digest-${n}`) ?? nothing
    assert.deepEqual(row, { n: told.people, sent: told.people - row.cut, cut: row.cut }, `digest-${n}`)
    assert.ok(distinct(`digest-${n}`).size >= row.sent, `digest-${n}: what arrived`)
  }
  await assertCountersAddUp(told)
  await assertWebhooksTold(told)
}

async function assertCountersAddUp({ sql, url }: Told): Promise<void> {
  const wrong = await sql(
    `select t.id, t.campaign_id, t.targeted, t.sent, t.failed, t.skipped, count(m.*)::int as rows,
            count(m.*) filter (where m.state = 'accepted')::int as accepted
       from triggers t left join messages m on m.project_id = t.project_id and m.trigger_id = t.id
      group by t.project_id, t.id having t.sent <> count(m.*) filter (where m.state = 'accepted')
          or t.targeted <> t.sent + t.failed + t.skipped`
  )
  assert.deepEqual(wrong, [], 'the counters of each trigger are the rows')
  const [{ all, direct, minutes }] = (await sql(
    `select (select count(*)::int from messages where state = 'accepted') as all,
            (select count(*)::int from messages where state = 'accepted' and campaign_id is null) as direct,
            (select sum(sent)::int from message_minutes) as minutes`
  )) as [Json]
  assert.equal(minutes, all, 'the figures by minute')
  const headers = { 'x-service-project-id': project, 'x-service-api-key': secretKey }
  const get = async (path: string) => (await ask(url, 'GET', `/api/v1${path}`, { headers })).json
  const stats = await get('/stats')
  assert.deepEqual([stats.totals.sent, stats.direct.sent], [all, direct], 'the results of the project')
  const campaigns = await sql(
    `select campaign_id, count(*) filter (where state = 'accepted')::int as sent
       from messages where campaign_id is not null group by 1`
  )
  for (const { campaign_id, sent } of campaigns)
    assert.equal((await get(`/campaigns/${campaign_id}/stats`)).totals.sent, sent, `the results of ${campaign_id}`)
}

async function assertWebhooksTold({ sql, receiver }: Told): Promise<void> {
  const events = receiver.received.flatMap(({ body }) => JSON.parse(body).events as Json[])
  const told = new Set(events.map(({ type, message_id, trigger_id }) => `${type} ${message_id ?? trigger_id}`))
  const messages = await sql(`select message_id as id from messages where state = 'accepted'`)
  const triggers = await sql(`select id from triggers`)
  const untold = [
    ...messages.map(({ id }) => `message.accepted ${id}`),
    ...triggers.map(({ id }) => `trigger.completed ${id}`)
  ].filter((one) => !told.has(one))
  assert.deepEqual(untold, [], 'each end was told to the webhook')
}
