import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type pg from 'pg'
import { type Statement, statements } from '../src/platform/db/statement.ts'
// In a process of its own, because statements of other tests would otherwise be included.
import '../src/app.ts' // Every capability registers its statements.
import { withClient } from './support/database.ts'
import { listOf, nodesOf, parsed, type TreeNode, type TreeValue, wordOf } from './support/parsed-statements.ts'
import { startService } from './support/service.ts'
import { readVolatility, type Volatilities } from './support/volatility.ts'

const service = await startService()

const commands: Record<string, string> = { 2: 'update', 3: 'insert', 4: 'delete' }
const described = (calls: { name: string }[], where: string) =>
  calls.map(({ name }) => `${name} ${where}`).filter((one, index, all) => all.indexOf(one) === index)

/** Checks statements against the rules by which Citus refuses to change rows of distributed tables. */
async function createChecker(client: pg.Client) {
  const volatilities = await readVolatility(client)
  const { rows } = await client.query<{ oid: string }>(
    `select a.attrelid::text as oid from pg_attribute a join pg_class c on c.oid = a.attrelid
      where a.attname = 'project_id' and a.attnotnull and c.relkind in ('r', 'p')
        and c.relnamespace = 'public'::regnamespace and c.relname not in ('api_keys')`
  )
  const tenant = new Set(rows.map(({ oid }) => oid))
  let number = 0
  return async ({ text, acrossProjects }: Pick<Statement, 'text' | 'acrossProjects'>): Promise<string[]> => {
    const tree = await parsed(client, `checked_${number++}`, text)
    return [...nodesOf(tree)]
      .filter(({ kind }) => kind === 'QUERY')
      .flatMap((query) => [
        ...changeFaults(query, tenant, volatilities),
        ...(acrossProjects === '' ? [] : lockFaults(query, tenant))
      ])
  }
}

function tableAt(query: TreeNode, index: string): string {
  const entry = listOf(query, 'rtable')[Number(index) - 1]
  return entry ? wordOf(entry, 'relid') : ''
}

function changeFaults(query: TreeNode, tenant: Set<string>, volatilities: Volatilities): string[] {
  const command = commands[wordOf(query, 'commandType')]
  if (!command || !tenant.has(tableAt(query, wordOf(query, 'resultRelation')))) return []
  const { calls } = volatilities
  const conflict = listOf(query, 'onConflict')
  const conditions = listOf(query, 'jointree').flatMap((tree) => tree.fields.get('quals') ?? [])
  const set = command === 'update' ? (query.fields.get('targetList') ?? []) : []
  return [
    ...described(calls(conflict, 's', 'v'), 'in on conflict'),
    ...(takesValues(conflict) && isFromPart(query) ? ['a parameter in on conflict beside rows of a part of WITH'] : []),
    ...described(calls(query.fields.get('returningList') ?? [], 's', 'v'), 'in returning'),
    ...described(calls([set, conditions], 'v'), `in ${command}`),
    ...described(onColumns([set, conditions], volatilities), `with a column or a condition in ${command}`)
  ]
}

/** Citus inserts the rows of a part of WITH by a statement of its own, and loses the types of the parameters there. */
const takesValues = (nodes: TreeValue) => [...nodesOf(nodes)].some(({ kind }) => kind === 'PARAM')
const partKind = '6' // RTE_CTE
const isFromPart = (query: TreeNode) =>
  [...nodesOf(query.fields.get('rtable') ?? [])].some((entry) => wordOf(entry, 'rtekind') === partKind)

/** STABLE functions that are given a column, or that stand in a CASE or COALESCE: the coordinator cannot compute them. */
function onColumns(value: TreeValue, { callsAt, calls }: Volatilities): { name: string }[] {
  return [...nodesOf(value)].flatMap((node) => {
    if (/^(CASE|COALESCE|COALESCEEXPR|CASEEXPR)$/.test(node.kind)) return calls([node], 's')
    const stable = callsAt(node).filter(({ volatility }) => volatility === 's')
    return stable.length > 0 && [...nodesOf([...node.fields.values()])].some(({ kind }) => kind === 'VAR') ? stable : []
  })
}

const lockFaults = (query: TreeNode, tenant: Set<string>) =>
  listOf(query, 'rowMarks').some((mark) => tenant.has(tableAt(query, wordOf(mark, 'rti'))))
    ? ['a lock on rows of several projects']
    : []

/** Comparisons with a list that functions make of a parameter: where no index serves, they make it again for every row. */
const listFaults = (tree: TreeValue) =>
  [...nodesOf(tree)]
    .filter(({ kind }) => kind === 'SCALARARRAYOPEXPR')
    .filter((node) => {
      const list = listOf(node, 'args')[1]!
      return !/^(PARAM|SUBLINK)$/.test(list.kind) && takesValues([list])
    })

it('no statement computes the list of a comparison from a parameter, for every row that it reads', async () => {
  await withClient(service.databaseUrl, async (client) => {
    const faulty: string[] = []
    for (const { name, text } of statements.values())
      if (listFaults(await parsed(client, `listed_${name}`, text)).length > 0) faulty.push(name)
    assert.deepEqual(faulty, [])
    const faultsOf = async (list: string) =>
      listFaults(await parsed(client, 'listed', `select 1 from users where id = any(${list})`)).length
    assert.equal(await faultsOf(`string_to_array($1, ',')::uuid[]`), 1)
    await client.query('deallocate listed')
    assert.equal(await faultsOf(`array(select unnest(string_to_array($1, ',')::uuid[]))`), 0)
  })
})

it('each list of a statement has the type on the server that it is packed as', async () => {
  await withClient(service.databaseUrl, async (client) => {
    const wrong: string[] = []
    let lists = 0
    for (const { name, text, lists: found = new Map<number, string>() } of statements.values()) {
      await client.query(`prepare "typed_${name}" as ${text}`)
      const { rows } = await client.query<{ types: string[] }>(
        'select parameter_types::text[] as types from pg_prepared_statements where name = $1',
        [`typed_${name}`]
      )
      const names: Record<string, string> = { uuid: 'uuid[]', text: 'text[]', int: 'integer[]' }
      for (const [place, type] of found)
        if (rows[0]!.types[place] !== names[type])
          wrong.push(`${name} $${place + 1}: ${rows[0]!.types[place]}, not ${type}[]`)
      lists += found.size
    }
    assert.deepEqual(wrong, [])
    assert.ok(lists > 100)
  })
})

describe('the statements, on a database that is spread over servers by project', () => {
  it('call only immutable functions where a row is changed, and lock rows of one project only', async () => {
    await withClient(service.databaseUrl, async (client) => {
      const check = await createChecker(client)
      const broken: string[] = []
      for (const one of statements.values())
        for (const fault of await check(one).catch((error: Error) => [error.message]))
          broken.push(`${one.name}: ${fault}`)
      assert.deepEqual(broken, [])
    })
  })

  it('that break these rules are found by this test', async () => {
    const insert = 'insert into users (project_id, id, project_user_id, properties, created_at, updated_at)'
    const upsert = `${insert} values ($1, $2, $3, $4, $5, $5) on conflict (project_id, project_user_id) do update`
    const bad = [
      `${upsert} set updated_at = now()`,
      `${upsert} set updated_at = excluded.updated_at + interval '1 day'`,
      `${upsert} set properties = excluded.properties where pg_column_size(users.properties) < 10`,
      `${upsert} set properties = excluded.properties returning jsonb_build_object('id', users.id)`,
      `update users set updated_at = clock_timestamp() where project_id = $1`,
      `update users set properties = to_jsonb(id) where project_id = $1`,
      `update users set updated_at = coalesce($2, now()) where project_id = $1`,
      `delete from users where project_id = $1 and updated_at + interval '1 day' < $2 returning id`,
      `with project as (select project_id from projects where project_id = $1)
       insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
       select project_id, $2, $3, '{}', $4, $4 from project
       on conflict (project_id, project_user_id) do update set updated_at = excluded.updated_at where users.updated_at < $5`,
      `with gone as (delete from users where project_id = $1 returning current_timestamp) select from gone`
    ]
    const across = ['select 1 from users for update skip locked', 'select 1 from users u for key share of u']
    await withClient(service.databaseUrl, async (client) => {
      const check = await createChecker(client)
      for (const text of bad) assert.notDeepEqual(await check({ text, acrossProjects: '' }), [], text)
      for (const text of across) assert.notDeepEqual(await check({ text, acrossProjects: 'a sweep' }), [], text)
      for (const text of [
        `${upsert} set updated_at = excluded.updated_at returning users.id, (xmax = 0) as created`,
        `update users set updated_at = now() where project_id = $1 and updated_at < now()`,
        `select now(), jsonb_build_object('id', id) from users where project_id = $1 for update`,
        `update jobs set run_at = clock_timestamp() where name = $1 returning jsonb_build_object('id', id)`
      ])
        assert.deepEqual(await check({ text, acrossProjects: '' }), [], text)
    })
  })
})
