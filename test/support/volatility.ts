import type pg from 'pg'
import { listOf, nodesOf, type TreeNode, type TreeValue, wordOf } from './parsed-statements.ts'

/** immutable, stable, volatile: `pg_proc.provolatile`. */
type Volatility = 'i' | 's' | 'v'
interface Call {
  name: string
  volatility: Volatility
}

/** Which functions nodes of a parse tree call, by the catalogue of the server. */
export async function readVolatility(client: pg.Client) {
  const rowsOf = async (text: string) =>
    (await client.query<{ oid: string; name: string; kind: Volatility }>(text)).rows
  const byOid = (rows: { oid: string; name: string; kind: Volatility }[]) =>
    new Map(rows.map(({ oid, name, kind }) => [oid, { name, volatility: kind }]))
  const functions = byOid(await rowsOf('select oid::text, proname as name, provolatile as kind from pg_proc'))
  const operators = byOid(
    await rowsOf(
      `select o.oid::text, o.oprname || ' (' || p.proname || ')' as name, p.provolatile as kind
         from pg_operator o join pg_proc p on p.oid = o.oprcode`
    )
  )
  const conversion = (column: string) =>
    `select t.oid::text, p.proname as name, p.provolatile as kind from pg_type t join pg_proc p on p.oid = t.${column}`
  const outputs = byOid(await rowsOf(conversion('typoutput')))
  const inputs = byOid(await rowsOf(conversion('typinput')))

  /** The functions that one node calls, without those below it. */
  function callsAt(node: TreeNode): Call[] {
    const known = (found: Call | undefined) => (found ? [found] : [])
    for (const field of ['funcid', 'aggfnoid', 'winfnoid'])
      if (node.fields.has(field)) return known(functions.get(wordOf(node, field)))
    if (node.fields.has('opno')) return known(operators.get(wordOf(node, 'opno')))
    if (node.kind === 'COERCEVIAIO') {
      const [argument] = listOf(node, 'arg')
      return [...known(outputs.get(argument ? typeOf(argument) : '')), ...known(inputs.get(wordOf(node, 'resulttype')))]
    }
    if (node.kind === 'SQLVALUEFUNCTION') return [{ name: 'current_timestamp or the like', volatility: 's' }]
    return []
  }
  /** All functions below a value whose volatility is one of these. */
  const calls = (value: TreeValue, ...kinds: Volatility[]) =>
    [...nodesOf(value)].flatMap(callsAt).filter(({ volatility }) => kinds.includes(volatility))
  return { callsAt, calls }
}
export type Volatilities = Awaited<ReturnType<typeof readVolatility>>

const typeFields = [
  'vartype',
  'consttype',
  'paramtype',
  'funcresulttype',
  'opresulttype',
  'resulttype',
  'casetype',
  'coalescetype',
  'aggtype',
  'wintype',
  'minmaxtype',
  'array_typeid'
]
const typeOf = (node: TreeNode) => typeFields.map((field) => wordOf(node, field)).find(Boolean) ?? ''
