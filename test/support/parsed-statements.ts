import type pg from 'pg'

/** A node of PostgreSQL's parse tree: its kind, and the values of each field. */
export interface TreeNode {
  kind: string
  fields: Map<string, TreeValue[]>
}
export type TreeValue = string | TreeNode | TreeValue[]

/**
 * The parse tree of a statement as the server understood it, with the oid of each function that it chose. The body of
 * a function is the only place where PostgreSQL shows such a tree.
 */
export async function parsed(client: pg.Client, name: string, text: string): Promise<TreeValue[]> {
  await client.query(`prepare "${name}" as ${text}`)
  const { rows: types } = await client.query<{ types: string[] }>(
    'select parameter_types::text[] as types from pg_prepared_statements where name = $1',
    [name]
  )
  await client.query(
    `create function pg_temp.parsed(${types[0]!.types.join(', ')}) returns void begin atomic ${text}; end`
  )
  const { rows } = await client.query<{ body: string }>(
    `select prosqlbody::text as body from pg_proc where proname = 'parsed' and pronamespace = pg_my_temp_schema()`
  )
  await client.query('drop function pg_temp.parsed')
  return readTree(rows[0]!.body)
}

/** Reads the text form of a tree: `{KIND :field value …}` is a node, `(…)` a list, everything else a word. */
function readTree(text: string): TreeValue[] {
  const words = text.match(/[{}()]|(?:\\.|[^\s{}()\\])+/gs) ?? []
  let at = 0
  function values(end: string | undefined): TreeValue[] {
    const found: TreeValue[] = []
    for (; at < words.length && words[at] !== end; ) found.push(value())
    at += 1
    return found
  }
  function value(): TreeValue {
    const word = words[at++]!
    if (word === '(') return values(')')
    return word === '{' ? node() : word
  }
  function node(): TreeNode {
    const kind = words[at++]!
    const fields = new Map<string, TreeValue[]>()
    let current: TreeValue[] = []
    for (const one of values('}')) {
      if (typeof one === 'string' && one.startsWith(':')) {
        current = []
        fields.set(one.slice(1), current)
      } else current.push(one)
    }
    return { kind, fields }
  }
  return values(undefined)
}

/** Every node below a value, itself included. */
export function* nodesOf(value: TreeValue): Generator<TreeNode> {
  if (typeof value === 'string') return
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one)
  else {
    yield value
    for (const field of value.fields.values()) yield* nodesOf(field)
  }
}

/** The first word of a field. */
export const wordOf = (node: TreeNode, field: string): string => {
  const [first] = node.fields.get(field) ?? []
  return typeof first === 'string' ? first : ''
}

/** The nodes of a field that holds a list. */
export const listOf = (node: TreeNode, field: string): TreeNode[] =>
  (node.fields.get(field) ?? []).flat().filter((one): one is TreeNode => typeof one === 'object' && 'kind' in one)
