import assert from 'node:assert/strict'
import { it } from 'node:test'
import { statements } from '../src/platform/db/statement.ts'
// In a process of its own, because statements of other tests would otherwise be included.
import '../src/app.ts' // Every capability registers its statements.
import { firstIdAt, newId } from '../src/platform/ids.ts'
import { withClient } from './support/database.ts'
import { startService } from './support/service.ts'

// When a row changes while a statement waits for its lock, PostgreSQL 18 evaluates the row again and corrupts the
// pruning of partitions in the same statement: it crashes, or misses rows (docs/decisions/0034). So no statement may
// have a plan in which this can happen.

const service = await startService()
const [{ version }] = await service.sql(`select current_setting('server_version_num')::int as version`)
/** PostgreSQL before 18 gives the second run a pruning state of its own, and prints its plans in another form. */
const affected = version >= 180_000
/**
 * A skipped test fails a full run, so that none is forgotten. On other versions these tests are therefore not defined
 * at all.
 */
const onAffected: typeof it = affected ? it : (((): void => {}) as unknown as typeof it)

/** The text from a brace to the brace that closes it. A backslash precedes quoted characters in a plan. */
function block(plan: string, start: number): string {
  let depth = 0
  for (let at = start; at < plan.length; at += 1) {
    if (plan[at] === '\\') at += 1
    else if (plan[at] === '{') depth += 1
    else if (plan[at] === '}' && --depth === 0) return plan.slice(start, at + 1)
  }
  throw new Error('the plan has no end')
}

const blocks = (plan: string, node: string) =>
  [...plan.matchAll(new RegExp(`\\{${node} `, 'g'))].map(({ index }) => block(plan, index))

/** The parts of a plan that PostgreSQL 18 corrupts. */
function faults(plan: string): string[] {
  const pruning = blocks(plan, 'PARTITIONPRUNEINFO').map((info) => ({
    atStart: info.includes(':initial_pruning_steps ('),
    asItRuns: info.includes(':exec_pruning_steps (')
  }))
  const within = (parts: string[]) =>
    parts.flatMap((part) => [...part.matchAll(/:part_prune_index (\d+)/g)].map(([, index]) => pruning[Number(index)]!))
  const locks = blocks(plan, 'LOCKROWS')
  const changes = blocks(plan, 'MODIFYTABLE').filter((node) => !node.includes(' :operation 3 ')) // An insert.
  const withs = plan.slice(plan.indexOf(' :subplans '), plan.indexOf(' :rewindPlanIDs '))
  return [
    // The pruning state is initialised again with each row that is evaluated again. PostgreSQL frees it when the lock
    // has no more rows, while the first run still uses it.
    ...(locks.length > 0 && within([...locks, withs]).some(({ asItRuns }) => asItRuns) ? ['under a lock'] : []),
    // The partitions left at the start are renumbered twice.
    ...(within(changes).some(({ atStart, asItRuns }) => atStart && asItRuns) ? ['pruned twice'] : [])
  ]
}

/** The planner chooses such plans only for tables with rows and with nested loops. */
async function faultsOf(texts: string[]): Promise<string[][]> {
  return withClient(service.databaseUrl, async (client) => {
    let printed = ''
    client.on('notice', ({ message, detail }) => {
      if (message === 'plan:') printed += detail
    })
    // The server's log need not contain the plans; only a superuser may set this.
    await client.query('set log_min_messages = panic').catch(() => {})
    for (const kind of ['hashjoin', 'mergejoin', 'seqscan', 'material']) await client.query(`set enable_${kind} = off`)
    await client.query('set client_min_messages = log; set debug_pretty_print = off; set debug_print_plan = on')
    const found: string[][] = []
    for (const text of texts) {
      printed = ''
      await client.query(`explain (generic_plan) ${text}`)
      assert.notEqual(printed, '')
      found.push(faults(printed.replace(/\s+/g, ' ')))
    }
    return found
  })
}

async function fill(): Promise<void> {
  const [user, at] = [newId(), new Date()]
  await service.sql(`insert into projects values ('p', 'P', 'live', 'standard', '{}', '{}', $1)`, [at])
  await service.sql(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at) values ('p', $1, 'u', '{}', $2, $2)`,
    [user, at]
  )
  for (const days of [0, 28, 56]) {
    const month = new Date(at.getTime() + days * 24 * 3_600_000)
    await service.sql(
      `insert into messages (project_id, trigger_id, device_id, message_id, push_id, user_id, place, state, not_after,
              content, collapse_id, priority, attempts, retries, simulated, created_at)
       select 'p', $1, 'd' || i, gen_random_uuid(), gen_random_uuid(), $2, 0, 'accepted', $3,
              '{}', '', 'high', 0, '{}', false, $3 from generate_series(1, 2000) i`,
      [firstIdAt(month.getTime()), user, month]
    )
    await service.sql(
      `insert into events (project_id, user_id, at, id, name, details, properties)
       select 'p', $1, $2, gen_random_uuid(), 'e', '{}', '{}' from generate_series(1, 2000) i`,
      [user, month]
    )
  }
  await service.sql('analyze messages, events')
}
if (affected) await fill()

onAffected(
  'no statement that locks or changes rows has a plan that ends PostgreSQL 18, or misses rows there',
  async () => {
    // For the sweeps, the first months are left at the start, and renumbering them twice changes nothing.
    const sweeps = ['messages.sweep_window', 'events.sweep_window']
    const risky = [...statements.values()].filter(
      ({ name, text }) =>
        !sweeps.includes(name) &&
        /\bfor (no key update|update|key share|share)\b|\b(update|delete from) (messages|events)\b/.test(text)
    )
    assert.ok(risky.length > 20)
    const found = await faultsOf(risky.map(({ text }) => text))
    assert.deepEqual(
      risky.flatMap(({ name }, index) => found[index]!.map((fault) => `${name}: ${fault}`)),
      []
    )
  }
)

onAffected('such statements are found by this test', async () => {
  const given = 'json_to_recordset($2::json) as g(trigger_id uuid, device_id text)'
  const same = 'm.project_id = $1 and m.trigger_id = g.trigger_id and m.device_id = g.device_id'
  const each = (end: string) => `select m.state from ${given}
    cross join lateral (select m.state from messages m where ${same} ${end}) m`
  const change = (more: string) => `update messages m set state = 'failed' from ${given} where ${same} ${more}`
  assert.deepEqual(
    await faultsOf([
      each('for update'),
      `select 1 from messages m join ${given} on ${same} order by m.place for update of m`,
      `with read as materialized (${each('offset 0')}),
            held as materialized (select 1 from projects where project_id = $1 for share) select 1 from read, held`,
      change('and m.trigger_id > $3')
    ]),
    [['under a lock'], ['under a lock'], ['under a lock'], ['pruned twice']]
  )
  assert.deepEqual(await faultsOf([each('offset 0'), change('')]), [[], []])
})
