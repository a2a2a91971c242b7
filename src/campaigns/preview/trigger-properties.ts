import { referencesIn } from '../../segments/segments.ts'
import { type TriggerUse, templatesOf, triggerUses, type UseType } from '../../templates/templates.ts'
import type { Campaign } from '../definition/definition.ts'
import type { Preview } from './schemas.ts'

type TriggerProperty = Preview['trigger_properties'][number]
type Use = TriggerUse & { place: string }

/** Values that a page can ask for. */
const mostProperties = 100
/** From the least to the most certain. */
const certainty: UseType[] = ['boolean', 'text', 'number', 'json']

/** A path, with the uses of exactly this path and the longer paths that begin with it. */
interface Branch {
  /** Whether a text shows this path or one that it begins with. */
  isInShown: boolean
  uses: Use[]
  branches: Map<string, Branch>
}

/** The trigger properties that the texts and the segment of a campaign use. Its saved segments are written out. */
export function triggerPropertiesOf(campaign: Campaign): TriggerProperty[] {
  const named = branchesOf([...usesInTexts(campaign), ...usesInSegment(campaign)])
  return named
    .filter((branch) => !isCovered(branch))
    .slice(0, mostProperties)
    .map(propertyOf)
}
function usesInTexts(campaign: Campaign): Use[] {
  const known = new Map<string, TriggerUse[]>()
  const texts = [...templatesOf(campaign)].sort(([one], [other]) => rankOf(one) - rankOf(other))
  return texts.flatMap(([place, source = '']) => {
    const uses = known.get(source) ?? triggerUses(source)
    known.set(source, uses)
    return uses.map((use) => ({ ...use, place }))
  })
}

/** The database keeps no order of fields, and people read the title first. */
const order = ['title', 'body']
const rankOf = (place: string) => {
  const at = order.indexOf(/\w+$/.exec(place)?.[0] ?? '')
  return at === -1 ? order.length : at
}

/** A user matches no condition that refers to a missing property, so each is required. */
const usesInSegment = ({ segment }: Campaign): Use[] =>
  referencesIn(segment).map((written) => {
    const index = written.findIndex((name) => /^[0-9]+$/.test(name))
    const path = index > 0 ? written.slice(0, index) : [...written]
    return { path, place: 'segment', required: true, shown: true, type: index > 0 ? 'json' : 'text' }
  })

/** The used paths in the order of their first uses. A campaign may use tens of thousands. */
function branchesOf(uses: Use[]): Branch[] {
  const root = newBranch()
  const named = new Set<Branch>()
  for (const use of uses) {
    let branch = root
    for (const name of use.path) {
      const inner = branch.branches.get(name) ?? newBranch()
      branch.branches.set(name, inner)
      branch = inner
    }
    branch.uses.push(use)
    named.add(branch)
  }
  for (const branch of insideOf(root)) {
    const isShown = branch.isInShown || branch.uses.some(({ shown }) => shown)
    for (const inner of branch.branches.values()) inner.isInShown = isShown
  }
  return [...named]
}

const newBranch = (): Branch => ({ isInShown: false, uses: [], branches: new Map() })

/** The branches inside a branch, each before those inside it. Without recursion, because paths may be long. */
function* insideOf(branch: Branch): Generator<Branch> {
  const waiting = [...branch.branches.values()]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next
    for (const inner of next.branches.values()) waiting.push(inner)
  }
}

/** `order.total` is covered where `order` is written as a whole; otherwise `order` is covered by `order.total`. */
const isCovered = ({ isInShown, uses, branches }: Branch): boolean =>
  isInShown || (branches.size > 0 && !uses.some(({ shown }) => shown))

function propertyOf(branch: Branch): TriggerProperty {
  const { uses } = branch
  const { path } = uses[0]!
  const parts = [...insideOf(branch)].flatMap((inner) => inner.uses)
  const both = [...uses, ...parts]
  const types = uses.map(({ type }) => certainty.indexOf(type))
  return {
    name: path.join('.'),
    path,
    type: parts.length > 0 ? 'json' : certainty[Math.max(...types)]!,
    required: both.some(({ required }) => required),
    paths: [...new Set(both.map(({ place }) => place))]
  }
}
