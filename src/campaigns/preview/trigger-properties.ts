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

/** The trigger properties that the texts and the segment of a campaign use. Its saved segments are written out. */
export function triggerPropertiesOf(campaign: Campaign): TriggerProperty[] {
  const uses = [...usesInTexts(campaign), ...usesInSegment(campaign)]
  const named = Map.groupBy(uses, ({ path }) => JSON.stringify(path))
  const paths = [...named.values()].map((all) => ({ path: all[0]!.path, shown: all.some(({ shown }) => shown) }))
  return [...named.values()]
    .filter(([{ path } = uses[0]!]) => !isCovered(path, paths))
    .slice(0, mostProperties)
    .map((own) => propertyOf(own, uses))
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

interface Known {
  path: string[]
  shown: boolean
}

const isInside = (inner: string[], outer: string[]) =>
  inner.length > outer.length && outer.every((name, place) => inner[place] === name)

/** `order.total` is covered where `order` is written as a whole; otherwise `order` is covered by `order.total`. */
const isCovered = (path: string[], all: Known[]): boolean =>
  all.some((one) => one.shown && isInside(path, one.path)) ||
  (!all.find((one) => one.path.join() === path.join())!.shown && all.some((one) => isInside(one.path, path)))

function propertyOf(own: Use[], all: Use[]): TriggerProperty {
  const { path } = own[0]!
  const parts = all.filter((one) => isInside(one.path, path))
  const both = [...own, ...parts]
  const types = own.map(({ type }) => certainty.indexOf(type))
  return {
    name: path.join('.'),
    path,
    type: parts.length > 0 ? 'json' : certainty[Math.max(...types)]!,
    required: both.some(({ required }) => required),
    paths: [...new Set(both.map(({ place }) => place))]
  }
}
