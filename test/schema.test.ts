import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { statements } from '../src/platform/db/statement.ts'
// In a process of its own, because statements of other tests would otherwise be included.
import '../src/app.ts' // Every capability registers its statements.
import { withClient } from './support/database.ts'
import { startService } from './support/service.ts'

const service = await startService()

/** The only tables that belong to no project (docs/decisions/0003). */
const global = new Set([
  'migrations',
  'settings',
  'nodes',
  'api_keys',
  'tokens',
  'former_names',
  'installation_audit',
  'jobs',
  'dead_jobs',
  'provider_tokens',
  'sessions',
  'members',
  'memberships',
  'member_links',
  'member_identities',
  'passkeys',
  'used_challenges'
])
const tables = (
  await service.sql(
    `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and not relispartition`
  )
).map(({ name }) => name as string)
/** Written so often that a foreign key to projects would cost more than everything else (docs/decisions/0003). */
const held = ['a2a_tasks', 'event_queue', 'idempotency_keys', 'messages', 'triggers', 'users']
const fills = (text: string, table: string) => new RegExp(`insert into ${table}\\b`).test(text)
const tenant = tables.filter((name) => !global.has(name))

describe('the schema', () => {
  it('docs/reference/data-map.md names each table once', () => {
    const page = readFileSync(new URL('../docs/reference/data-map.md', import.meta.url), 'utf8')
    const [withData, without] = page.split('## Outside')[0]!.split('## Tables without')
    const first = [...withData!.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!)
    const rest = [...without!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
    assert.deepEqual([...first, ...rest].sort(), tables.toSorted())
  })

  it('the data map has the defaults of the settings, and an erasure as foreign keys and receipts have it', async () => {
    const page = readFileSync(new URL('../docs/reference/data-map.md', import.meta.url), 'utf8')
    const project = await service.project()
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const { retention } = (await service.manage('GET', `/projects/${project.id}`)).json
    const defaults: Record<string, unknown> = { ...service.config, ...retention }
    const named = [...page.matchAll(/`(\w+)`(?: of the project)?, (\d+) by default/g)]
    assert.ok(named.length > 5)
    for (const [, name, value] of named) assert.equal(String(defaults[name!]), value, name)

    const cells = [...page.matchAll(/^\| `(\w+)` \|.*\| (.+) \|$/gm)].map(([, table, cell]) => [table!, cell!] as const)
    const saying = (start: RegExp) => cells.filter(([, cell]) => start.test(cell)).map(([table]) => table)
    const cascading = await service.sql(
      `with recursive gone(id) as (select 'users'::regclass::oid union
         select k.conrelid from pg_constraint k join gone on gone.id = k.confrelid where k.contype = 'f' and k.confdeltype = 'c')
       select c.relname as name from gone join pg_class c on c.oid = gone.id where not c.relispartition and c.relname <> 'users'`
    )
    const withUser = saying(/^(deleted|with the user|with its event)$/)
    assert.deepEqual(
      cascading.map(({ name }) => name).filter((name) => !withUser.includes(name)),
      [],
      'tables whose rows a foreign key deletes with the user'
    )
    const { erased } = (
      await service.manage('POST', `/projects/${project.id}/erasures`, { json: { project_user_id: 'ana' } })
    ).json
    assert.deepEqual(
      saying(/^(deleted|with the user|targets replaced|events about|ids replaced)/).toSorted(),
      Object.keys(erased).toSorted()
    )
  })

  it('every tenant table has project_id, text, not null', async () => {
    const rows = await service.sql(
      `select c.relname as name, t.typname as type, a.attnotnull as required from pg_class c
         left join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id' left join pg_type t on t.oid = a.atttypid
        where c.relname = any($1) and c.relnamespace = 'public'::regnamespace`,
      [tenant]
    )
    assert.deepEqual(
      rows.filter(({ type, required }) => type !== 'text' || !required),
      []
    )
    assert.ok(tenant.includes('users') && tenant.includes('projects') && tenant.includes('audit_log'))
  })

  it('project_id leads every key and unique index of a tenant table', async () => {
    const rows = await service.sql(
      `select c.relname as table, i.relname as index, a.attname as first from pg_index x
         join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
         left join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
        where c.relname = any($1) and (x.indisunique or x.indisprimary)`,
      [tenant]
    )
    assert.ok(rows.length >= tenant.length)
    assert.deepEqual(
      rows.filter(({ first }) => first !== 'project_id'),
      []
    )
  })

  it('foreign keys start with project_id on both sides and cascade or do nothing', async () => {
    const rows = await service.sql(
      `select k.conname as name, k.confdeltype as action, a.attname as from, f.attname as to from pg_constraint k
         join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
         join pg_attribute f on f.attrelid = k.confrelid and f.attnum = k.confkey[1]
        where k.contype = 'f' and k.connamespace = 'public'::regnamespace`
    )
    assert.ok(rows.length > 0)
    assert.deepEqual(
      rows.filter(
        ({ action, from, to }) => !['c', 'a'].includes(action) || from !== 'project_id' || to !== 'project_id'
      ),
      []
    )
  })

  it('every tenant table has a cascade that cannot be null, or its project is held by each statement that fills it', async () => {
    const rows = await service.sql(
      `select distinct c.relname as name from pg_constraint k join pg_class c on c.oid = k.conrelid
        where k.contype = 'f' and k.confdeltype = 'c' and c.relname = any($1)
          and not exists (select 1 from pg_attribute a
                           where a.attrelid = c.oid and a.attnum = any(k.conkey) and not a.attnotnull)`,
      [tenant]
    )
    assert.deepEqual(
      [...rows.map(({ name }) => name), ...held, 'projects'].sort(),
      tenant.toSorted(),
      'each by exactly one of the two'
    )
    const filling = [...statements.values()].filter(({ text }) => held.some((table) => fills(text, table)))
    assert.ok(filling.length >= held.length)
    assert.deepEqual(
      // A statement that has locked the row for its change cannot insert a new one.
      filling
        .filter(
          ({ text }) =>
            !/projects where project_id = \$1.* for key share\)|where p.project_id = \$1 for key share of p\b|\bfor update\)/s.test(
              text
            )
        )
        .map(({ name }) => name),
      // These statements change existing rows, and undo their writes if a row does not exist
      // (test/messages/settling.test.ts).
      ['messages.settle', 'messages.settle_moved']
    )
  })

  it('has no row triggers, rules or volatile defaults, and names short enough for shard suffixes', async () => {
    assert.deepEqual(await service.sql('select tgname from pg_trigger where not tgisinternal'), [])
    assert.deepEqual(await service.sql(`select rulename from pg_rules where schemaname = 'public'`), [])
    assert.deepEqual(
      await service.sql(
        `select adrelid::regclass::text as table, pg_get_expr(adbin, adrelid) as value from pg_attrdef where pg_get_expr(adbin, adrelid) ~ '\\(' and adrelid::regclass::text = any($1)`,
        [tenant]
      ),
      []
    )
    assert.deepEqual(
      await service.sql(
        `select conname from pg_constraint where length(conname) > 52 and connamespace = 'public'::regnamespace`
      ),
      []
    )
  })
})

/** Every mention of a tenant table as a source or target of rows, with its alias in the statement. */
function mentions(text: string): { table: string; alias: string; written: boolean }[] {
  const words = tenant.join('|')
  const pattern = new RegExp(
    `\\b(from|join|update|into|using)\\s+(${words})\\b(?:\\s+(?:as\\s+)?(?!set\\b|where\\b|on\\b|cross\\b|join\\b|order\\b|group\\b|limit\\b|select\\b|values\\b|left\\b|using\\b|for\\b)([a-z]\\w*))?`,
    'g'
  )
  return [...text.matchAll(pattern)].map(([, verb, table, alias]) => ({
    table: table!,
    alias: alias ?? table!,
    written: verb === 'into'
  }))
}

/** The violations of the rules for statements; none for a statement that touches no tenant table. */
function faults(text: string): string[] {
  const flat = text.replace(/\s+/g, ' ').toLowerCase()
  const found = mentions(flat)
  if (found.length === 0) return []
  const conditions = [...flat.matchAll(/(?:(\w+)\.)?project_id = \$\d+/g)].map(([, owner]) => owner)
  const unbound = found.filter(({ table, alias, written }) => {
    // An insert gives project_id first, from a parameter or from the projects row it is joined to.
    if (written) {
      const first = new RegExp(`insert into ${table}(?: as \\w+)? \\(project_id,`).test(flat)
      return !first || !/values \(\$1,|select (\w+\.)?project_id|select \$1/.test(flat)
    }
    const bound = conditions.filter((owner) => owner === alias || owner === undefined).length
    return bound < found.filter((other) => other.alias === alias && !other.written).length
  })
  return [
    ...unbound.map(({ table, alias }) => `${table} (${alias}) is not bound to one project`),
    ...(/do update set.*\bnow\(\)/.test(flat) ? ['now() in do update'] : []),
    ...(/\b(gen_random_uuid|random|clock_timestamp)\(\)/.test(flat) ? ['a volatile function'] : [])
  ]
}

describe('the statements', () => {
  it('each name one project on each tenant table, and no volatile function', () => {
    const broken = [...statements.values()]
      .filter(({ acrossProjects }) => acrossProjects === '')
      .flatMap(({ name, text }) => faults(text).map((fault) => `${name}: ${fault}`))
    assert.deepEqual(broken, [])
  })

  it('that break the rules are found by this test', () => {
    for (const text of [
      'select 1 from users where id = $1',
      'select 1 from users u join projects p on p.project_id = u.project_id where p.project_id = $1',
      'delete from users where project_id = $1 and id in (select id from users)',
      'update users set properties = $1 where id = $2',
      'insert into users (id, project_id) values ($1, $2)',
      'insert into users (project_id, id) select project_id, $2 from projects',
      'insert into users (project_id, id) values ($1, gen_random_uuid())',
      'insert into users (project_id, id) values ($1, $2) on conflict do update set updated_at = now()'
    ]) {
      assert.notDeepEqual(faults(text), [], text)
    }
  })

  it('cross projects only for a stated reason', () => {
    const across = [...statements.values()].filter(({ acrossProjects }) => acrossProjects !== '')
    assert.deepEqual(across.map(({ name }) => name).sort(), [
      'a2a.due_tasks',
      'approvals.due',
      'approvals.waiting',
      'campaigns.awaiting_winners',
      'event_queue.waiting',
      'idempotency.sweep',
      'journeys.overdue',
      'live_activity_channels.known',
      'live_activity_channels.open',
      'messages.left_behind',
      'messages.paused_projects',
      'projects.find_many',
      'projects.ids',
      'projects.list',
      'projects.pause_running',
      'projects.paused_at_time',
      'schedules.due',
      'sealed.change_a2a_push_configs_secrets',
      'sealed.change_erasure_keys_sealed',
      'sealed.change_gateway_credentials_secret',
      'sealed.change_identity_secrets_previous',
      'sealed.change_identity_secrets_sealed',
      'sealed.change_provider_tokens_token',
      'sealed.change_settings_value',
      'sealed.change_simulators_credentials',
      'sealed.change_webhook_calls_headers',
      'sealed.change_webhook_secrets_previous',
      'sealed.change_webhook_secrets_replaced',
      'sealed.change_webhook_secrets_sealed',
      'sealed.forget_a2a_push_configs_secrets',
      'sealed.forget_erasure_keys_sealed',
      'sealed.forget_gateway_credentials_secret',
      'sealed.forget_identity_secrets_previous',
      'sealed.forget_identity_secrets_sealed',
      'sealed.forget_provider_tokens_token',
      'sealed.forget_settings_value',
      'sealed.forget_simulators_credentials',
      'sealed.forget_webhook_calls_headers',
      'sealed.forget_webhook_secrets_previous',
      'sealed.forget_webhook_secrets_replaced',
      'sealed.forget_webhook_secrets_sealed',
      'sealed.list_a2a_push_configs_secrets',
      'sealed.list_erasure_keys_sealed',
      'sealed.list_gateway_credentials_secret',
      'sealed.list_identity_secrets_previous',
      'sealed.list_identity_secrets_sealed',
      'sealed.list_provider_tokens_token',
      'sealed.list_settings_value',
      'sealed.list_simulators_credentials',
      'sealed.list_webhook_calls_headers',
      'sealed.list_webhook_secrets_previous',
      'sealed.list_webhook_secrets_replaced',
      'sealed.list_webhook_secrets_sealed',
      'triggers.due',
      'triggers.open',
      'triggers.overdue',
      'users.large_projects',
      'webhooks.waiting'
    ])
  })

  it('are all understood by the database', async () => {
    await withClient(service.databaseUrl, async (client) => {
      let number = 0
      for (const { name, text } of statements.values())
        await client
          .query(`prepare check_${number++} as ${text}`)
          .catch((error) => assert.fail(`${name}: ${error.message}`))
    })
  })
})
