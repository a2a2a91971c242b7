import { Output, type Template as Parsed, type StaticAnalysis, toValueSync, Value } from 'liquidjs'
import { isZone } from '../platform/time.ts'
import { fixedNames, templateRoots } from './roots.ts'

type Node = Parsed & { name?: string }
type Names = Pick<StaticAnalysis, 'globals' | 'locals'>

/** More are not shown, and looking for them takes time. */
const most = 20

/** What a template that can be rendered probably does not mean, each as the end of a sentence. */
export function doubtsIn(parsed: readonly Parsed[], names: Names): string[] {
  const known: readonly string[] = templateRoots
  const unknown = Object.keys(names.globals)
    .filter((name) => !known.includes(name) && !Object.hasOwn(names.locals, name))
    .map((name) => alwaysEmpty(name, known))
  const doubts = new Set([...unknown, ...unknownParts(names)].slice(0, most))
  const hidden = new Set(Object.keys(names.locals))
  for (const node of parsed)
    for (const doubt of doubtsOf(node, hidden))
      if (doubts.size < most) doubts.add(doubt)
      else return [...doubts]
  return [...doubts]
}

const alwaysEmpty = (name: string, there: readonly string[]) =>
  `refers to ${name}, which is always empty: there are ${there.join(', ')}`

/** Names such as device.model. */
const unknownParts = ({ globals }: Names): string[] =>
  Object.entries(fixedNames).flatMap(([root, names]) =>
    (globals[root] ?? []).flatMap((written) => {
      const [, name] = written.segments
      // Liquid counts the properties of an object by `size`.
      const isKnown = typeof name !== 'string' || name === 'size' || names.includes(name)
      return isKnown
        ? []
        : [
            alwaysEmpty(
              String(written),
              names.map((one) => `${root}.${one}`)
            )
          ]
    })
  )

/** `hidden`: names that the template gives to values of its own. */
function* doubtsOf(node: Node, hidden: ReadonlySet<string>): Generator<string> {
  for (const argument of node.arguments?.() ?? []) {
    if (!(argument instanceof Value)) continue
    const root = node instanceof Output || node.name === 'echo' ? wholeRoot(argument) : undefined
    if (root !== undefined && !hidden.has(root))
      yield `has {{ ${root} }}, which writes all properties as JSON: add a name, or | json if that is meant`
    for (const zone of zonesIn(argument))
      if (!isZone(zone)) yield `has the zone "${zone}", which is none: dates are in UTC`
  }
  if (!node.children) return
  const inner = node.blockScope ? new Set([...hidden, ...node.blockScope()]) : hidden
  for (const child of toValueSync(node.children(false, true)) as Node[]) yield* doubtsOf(child, inner)
}

/** The root that an output writes as it is: `user`, of `{{ user }}` and of `{{ user | default: "there" }}`. */
function wholeRoot({ initial, filters }: Value): string | undefined {
  const [token, ...more] = initial.postfix as { props?: { content?: unknown }[]; variable?: unknown }[]
  const [name, ...names] = token?.props ?? []
  if (more.length > 0 || token?.variable || names.length > 0) return undefined
  if (filters.some((filter) => filter.name !== 'default')) return undefined
  return templateRoots.find((root) => root === name?.content)
}

/** Zones of dates that stand in the template itself. */
const zonesIn = ({ filters }: Value): string[] =>
  filters.flatMap(({ name, args: [, zone] }) => {
    const content = name === 'date' ? (zone as { content?: unknown } | undefined)?.content : undefined
    return typeof content === 'string' ? [content] : []
  })
