import { setImmediate as turn } from 'node:timers/promises'
import { textOf } from './budget.ts'
import { contentOf, type Source } from './content.ts'
import { type Made, type Make, makeOf } from './making.ts'
import type { Addressee, Recipient, Triggered } from './rendering.ts'
import { deviceScope, storable, TemplateFailed, type TemplateRoot, templateRoots } from './template.ts'

/**
 * Fills in templates that only insert values, as `Hello {{ user.name | default: "there" }}` does, in the service itself: that
 * takes a microsecond, and asking another process ten times as much (docs/decisions/0086). Whatever costs more than a look-up
 * or might read differently is left to the library, for one recipient or for all: so both always make the same text.
 */

/** Characters of a text with its templates, and of what one template makes. */
const limits = { source: 8_192, made: 4_096, inserts: 64 } as const
/** How long the service fills in texts before other requests get a turn. */
const sliceMs = 5

interface Insert {
  root: TemplateRoot
  names: readonly string[]
  default: string | undefined
}

/** Names that lists and texts have for the library. */
const special: ReadonlySet<string> = new Set(['size', 'first', 'last', '__proto__'])
const insert = new RegExp(
  String.raw`\{\{[ \t]*(${templateRoots.join('|')})((?:\.[A-Za-z_]\w*)+)[ \t]*(?:\|[ \t]*default[ \t]*:[ \t]*("[^"\\{}%\n]*"|'[^'\\{}%\n]*')[ \t]*)?\}\}`
)

/** The texts and inserts of a template, in order; undefined if it has anything else. */
export function plainParts(source: string): (string | Insert)[] | undefined {
  const parts: (string | Insert)[] = []
  const pieces = source.split(insert)
  // A text, then root, names and default of the insert that follows it.
  for (let at = 0; at < pieces.length; at += 4) {
    const [text, root, names, or] = pieces.slice(at, at + 4) as [string, ...(string | undefined)[]]
    if (/\{[{%]|\{$/.test(text)) return undefined
    parts.push(text)
    if (root === undefined) break
    const path = names!.slice(1).split('.')
    if (path.some((name) => special.has(name))) return undefined
    parts.push({ root: root as TemplateRoot, names: path, default: or?.slice(1, -1) })
  }
  return parts.length <= 2 * limits.inserts ? parts : undefined
}

/** What inserts of one recipient refer to. */
interface Values {
  recipient: Addressee
  trigger: Readonly<Record<string, unknown>>
  campaign: Readonly<Record<string, unknown>>
  /** Whether missing values are reported, which the library does. */
  watch: boolean
}

/** Thrown where only the library knows what a template makes of these values. */
const undecided = new Error('left to the library')

/** Throws `undecided`. */
function filledIn(parts: readonly (string | Insert)[], values: Values): string {
  let text = ''
  for (const part of parts) text += typeof part === 'string' ? part : insertedText(part, values)
  if (text.length > limits.made) throw undecided
  return storable(text)
}

function insertedText(one: Insert, values: Values): string {
  const value = lookedUp(one, values)
  if (typeof value === 'object' && value !== null) throw undecided
  if (typeof value === 'string' && value.length > limits.made) throw undecided
  if (one.default !== undefined) return value || value === 0 ? textOf(value) : one.default
  if (values.watch && (value === undefined || value === null || value === '')) throw undecided
  return textOf(value)
}

function lookedUp({ root, names: [first, ...names] }: Insert, values: Values): unknown {
  let value = firstOf(root, first!, values)
  for (const name of names) {
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'object' || Array.isArray(value)) throw undecided
    value = own(value, name)
  }
  return value
}

function firstOf(root: TemplateRoot, name: string, { recipient, trigger, campaign }: Values): unknown {
  const { device_id, platform, facts, project_user_id, properties } = recipient
  if (root === 'campaign') return own(campaign, name)
  if (root === 'device') return own(deviceScope(device_id, platform, facts), name)
  if (root === 'user') {
    if (name === 'id') return project_user_id
    return name === 'properties' ? properties : own(properties, name)
  }
  return recipient.own && Object.hasOwn(recipient.own, name) ? own(recipient.own, name) : own(trigger, name)
}

const own = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined

/** Undefined for a text that the library must render for every recipient. */
function plainText(content: ReturnType<typeof contentOf>): Make<Values> | undefined {
  let templates = 0
  try {
    const make = makeOf<Values>(content, (source) => {
      templates += 1
      const parts = source.length > limits.source ? undefined : plainParts(source)
      if (!parts) throw undecided
      return (values) => filledIn(parts, values)
    })
    return templates === 0 || JSON.stringify(content).length <= limits.source ? make : undefined
  } catch (error) {
    if (error === undecided) return undefined
    throw error
  }
}

/** Makes the contents that need no library; undefined for the others. */
export type FillIn = (
  trigger: Triggered,
  recipients: readonly Recipient[],
  texts: readonly (string | undefined)[]
) => Promise<(Made | TemplateFailed | undefined)[]>

export function fillerOf(source: Source): FillIn {
  const { name, campaign_id: id, watch = false } = source
  const campaign = { id, name }
  const makers = new Map<string | undefined, Make<Values> | undefined>()
  const makerOf = (text: string | undefined) => {
    if (!makers.has(text)) makers.set(text, plainText(contentOf(source, text)))
    return makers.get(text)
  }
  return async ({ properties: trigger }, recipients, texts) => {
    const made: (Made | TemplateFailed | undefined)[] = []
    let began = performance.now()
    for (const [index, recipient] of recipients.entries()) {
      const make = makerOf(texts[index])
      made.push(make && outcomeOf(make, { recipient, trigger, campaign, watch }))
      if (performance.now() - began < sliceMs) continue
      await turn()
      began = performance.now()
    }
    return made
  }
}

function outcomeOf(make: Make<Values>, values: Values): Made | TemplateFailed | undefined {
  try {
    return make(values)
  } catch (error) {
    if (error === undecided) return undefined
    if (error instanceof TemplateFailed) return error
    throw error
  }
}
