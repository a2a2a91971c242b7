import { isDeepStrictEqual } from 'node:util'
import { type Document, isMap, isScalar, stringify } from 'yaml'
import { CampaignSchema } from '../../campaigns/definition/schema.ts'
import { isObject } from '../../platform/fields.ts'
import type { Campaign } from '../../wire.ts'

// Campaigns as text: what `get` prints and `pull` writes. The same campaign always gives the same text.

const added = new Set(['version', 'created_at', 'updated_at', 'warnings', 'winners', 'next_at'])

/** A campaign as a file has it, without the fields that the service adds. */
export const definitionOf = (campaign: Campaign): Record<string, unknown> =>
  Object.fromEntries(Object.entries(campaign).filter(([name]) => !added.has(name)))

/** The order in which people write a campaign: what it is first, then what it says. */
const order = [
  '$schema',
  ...Object.keys(CampaignSchema.properties),
  ...['id', 'weight', 'wait', 'attribute', 'event', 'operator', 'value', 'count', 'within', 'where'],
  ...['at', 'cron', 'from', 'to', 'timezone', 'language', 'title', 'body', 'image_url', 'landing_url']
]
const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
const byRank = (one: string, two: string) => rank(one) - rank(two) || (one < two ? -1 : 1)

/** Fields that say the same when they are absent. */
const defaults: [name: string, value: unknown][] = [
  ['type', 'api_triggered'],
  ['segment', { all: [] }]
]
const isDefault = (name: string, value: unknown) =>
  defaults.some(([known, usual]) => known === name && isDeepStrictEqual(value, usual))

const brief = (definition: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(definition).filter(([name, value]) => !isDefault(name, value)))

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort(byRank)
      .map((name) => [name, sorted(value[name])])
  )
}

// Without a line width: a line break inside a template would show in the message.
const style = { lineWidth: 0 } as const

export const asYaml = (definition: Record<string, unknown>): string => stringify(sorted(brief(definition)), style)

export const asJson = (definition: Record<string, unknown>): string =>
  `${JSON.stringify(sorted(brief(definition)), null, 2)}\n`

/** Gives a document of a file the content of a definition. Comments and the form of what is unchanged stay. */
export function rewrite(
  document: Document.Parsed,
  now: Record<string, unknown>,
  definition: Record<string, unknown>
): void {
  const isUsual = (name: string, value: unknown) => isDefault(name, value) || (name === 'status' && value === 'draft')
  const kept = Object.fromEntries(
    Object.entries(definition).filter(([name, value]) => name in now || !isUsual(name, value))
  )
  // Editors find the schema of a JSON file by it; the service ignores it.
  if ('$schema' in now) kept.$schema = now.$schema
  merge(document, [], now, kept)
}

function merge(
  document: Document.Parsed,
  path: string[],
  now: Record<string, unknown>,
  wanted: Record<string, unknown>
) {
  for (const name of Object.keys(now)) if (!(name in wanted)) document.deleteIn([...path, name])
  for (const name of Object.keys(wanted).sort(byRank)) {
    const [before, after, place] = [now[name], wanted[name], [...path, name]]
    if (isDeepStrictEqual(before, after)) continue
    if (isObject(before) && isObject(after) && isMap(document.getIn(place))) merge(document, place, before, after)
    else {
      const node = document.getIn(place, true)
      // The node keeps its quotes and the comment behind it.
      if (isScalar(node) && typeof before === typeof after && typeof after !== 'object') node.value = after
      else document.setIn(place, document.createNode(sorted(after)))
    }
  }
}

/** The text of a file with several documents. */
export const textOf = (documents: readonly Document.Parsed[]): string =>
  documents.map((document) => document.toString(style)).join('')
