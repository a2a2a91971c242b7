import { Output, type Template as Parsed, toValueSync, Value } from 'liquidjs'
import { engine, isTemplate, withoutPlaces } from './template.ts'

/** How a template uses one value of the trigger. */
export interface TriggerUse {
  /** The names after `trigger`: order, total. */
  path: string[]
  /** Whether the text has neither a default for it nor a condition on it, so that it should not be empty. */
  required: boolean
  /** Written out or looped over, and not only compared. */
  shown: boolean
  type: UseType
}

/** The type that the template expects, as far as it shows. */
export type UseType = 'text' | 'number' | 'boolean' | 'json'

/** `event` has the same values as `trigger`. */
const roots: ReadonlySet<unknown> = new Set(['trigger', 'event'])
const conditions: ReadonlySet<string> = new Set(['if', 'unless', 'case'])
const numeric: ReadonlySet<string> = new Set([
  ...['abs', 'at_least', 'at_most', 'ceil', 'divided_by', 'floor', 'minus', 'modulo', 'plus', 'round', 'times'],
  'number_with_delimiter'
])
const ofLists: ReadonlySet<string> = new Set([
  'join',
  'map',
  'where',
  'sum',
  'array_to_sentence_string',
  'sort',
  'uniq'
])
/** Names that a list has beside its items. */
const listNames: ReadonlySet<string> = new Set(['size', 'first', 'last'])

type Node = Parsed & { name?: string }
type Argument = NonNullable<ReturnType<NonNullable<Parsed['arguments']>>> extends Iterable<infer One> ? One : never

/** Every value of the trigger that a template refers to, once for each place; none of one that cannot be read. */
export function triggerUses(source: string): TriggerUse[] {
  if (!isTemplate(source) || !/trigger|event/.test(source)) return []
  const found: TriggerUse[] = []
  const parsed = parsedOrNone(source)
  withoutPlaces(() => {
    for (const node of parsed) visit(node, new Set(), found)
  })
  return found
}

/** An older version of the service may have saved what this one refuses. */
function parsedOrNone(source: string): Parsed[] {
  try {
    return engine.parse(source)
  } catch {
    return []
  }
}

/** `guarded`: the paths that enclosing conditions mention. */
function visit(node: Node, guarded: ReadonlySet<string>, found: TriggerUse[]): void {
  const inner = new Set(guarded)
  for (const argument of node.arguments?.() ?? [])
    for (const [index, written] of pathsIn(node, argument).entries()) {
      if (conditions.has(node.name ?? '')) inner.add(written.path.join('.'))
      found.push(described(node, argument, written, index === 0, guarded))
    }
  if (!node.children) return
  for (const child of toValueSync(node.children(false, true)) as Node[]) visit(child, inner, found)
}

function described(
  node: Node,
  argument: Argument,
  { path, isWhole }: Written,
  isFirst: boolean,
  guarded: ReadonlySet<string>
): TriggerUse {
  const filters = argument instanceof Value && isFirst ? argument.filters.map(({ name }) => name) : []
  const isOutput = node instanceof Output || node.name === 'echo'
  const hasDefault = filters.includes('default') || guarded.has(path.join('.'))
  return {
    path,
    required: isOutput && isFirst && !hasDefault,
    shown: isOutput || node.name === 'for' || node.name === 'assign',
    type: isWhole || node.name === 'for' ? 'json' : typeBy(filters, node, argument)
  }
}

function typeBy(filters: string[], { name }: Node, argument: Argument): UseType {
  if (filters.some((filter) => ofLists.has(filter))) return 'json'
  if (filters.some((filter) => numeric.has(filter))) return 'number'
  if ((name !== 'if' && name !== 'unless') || !(argument instanceof Value)) return 'text'
  const tokens = argument.initial.postfix as { content?: unknown }[]
  if (tokens.length === 1) return 'boolean'
  return tokens.some(({ content }) => typeof content === 'number') ? 'number' : 'text'
}

interface Written {
  path: string[]
  /** Whether the template looks further into the value by a number or by a name that it computes. */
  isWhole: boolean
}

/** The paths of trigger values in one argument of a tag or an output. */
function pathsIn(node: Node, argument: Argument): Written[] {
  const alone: Parsed = { token: node.token, render: () => '', arguments: () => [argument] }
  const { variables } = engine.analyzeSync([alone], { partials: false })
  return Object.values(variables)
    .flat()
    .flatMap(({ segments: [root, ...names] }) => {
      const plain = names.findIndex((name, place) => typeof name !== 'string' || (place > 0 && listNames.has(name)))
      const path = (plain === -1 ? names : names.slice(0, plain)).map(String)
      return roots.has(root) && path.length > 0 ? [{ path, isWhole: plain !== -1 }] : []
    })
}
