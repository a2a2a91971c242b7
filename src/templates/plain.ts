import { textOf } from './budget.ts'
import { contentOf, type Source } from './content.ts'
import { type Made, type Make, makeOf } from './making.ts'
import type { Addressee, Recipient, Triggered } from './rendering.ts'
import { slices } from './slices.ts'
import { deviceScope, storable, TemplateFailed, type TemplateRoot, templateRoots } from './template.ts'

/**
 * Fills in templates that only insert values, as `Hello {{ user.name | default: "there" }}` does, in the service itself: that
 * takes a microsecond, and asking another process ten times as much (docs/decisions/0086). Whatever costs more than a look-up
 * or might read differently is left to the library, for one recipient or for all: so both always make the same text.
 */

/**
 * Of one content: characters with its templates, inserts, and characters that templates make. `kept`: characters of contents
 * that one campaign keeps read.
 */
const limits = { source: 8_192, inserts: 64, made: 8_192, kept: 32_768 } as const

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
  return parts
}

/** What inserts of one recipient refer to. */
interface Values {
  recipient: Addressee
  trigger: Readonly<Record<string, unknown>>
  campaign: Readonly<Record<string, unknown>>
  /** Whether missing values are reported, which the library does. */
  watch: boolean
  /** Characters that templates of this content may still make. */
  left: number
}

/** Thrown where only the library knows what a template makes of these values. */
const undecided = new Error('left to the library')

/** Throws `undecided`. */
function filledIn(parts: readonly (string | Insert)[], values: Values): string {
  let text = ''
  for (const part of parts) text += typeof part === 'string' ? part : insertedText(part, values)
  values.left -= text.length
  if (values.left < 0) throw undecided
  return storable(text)
}

function insertedText(one: Insert, values: Values): string {
  const value = lookedUp(one, values)
  if (!hasOneSpelling(value)) throw undecided
  if (typeof value === 'string' && value.length > values.left) throw undecided
  if (one.default !== undefined) return value || value === 0 ? textOf(value) : one.default
  if (values.watch && (value === undefined || value === null || value === '')) throw undecided
  return textOf(value)
}

const hasOneSpelling = (value: unknown): boolean =>
  typeof value === 'object' ? value === null : typeof value !== 'number' || Number.isFinite(value)

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

/** Undefined for a content that the library must render for every recipient. */
function plainContent(content: Pick<Source, 'message' | 'live_activity'>): Make<Values> | undefined {
  let inserts = 0
  try {
    return makeOf<Values>(content, (source) => {
      const parts = plainParts(source)
      if (!parts) throw undecided
      inserts += parts.length >> 1
      if (inserts > limits.inserts) throw undecided
      return (values) => filledIn(parts, values)
    })
  } catch (error) {
    if (error === undecided) return undefined
    throw error
  }
}

/** Makes the contents that need no library; undefined for the others. No more of them after `untilMs`. */
export type FillIn = (
  trigger: Triggered,
  recipients: readonly Recipient[],
  untilMs: number,
  texts: readonly (string | undefined)[]
) => Promise<(Made | TemplateFailed | undefined)[]>

export function fillerOf(source: Source): FillIn {
  const { name, campaign_id: id, watch = false } = source
  const campaign = { id, name }
  const makerOf = createMakers(source)
  return async ({ properties: trigger }, recipients, untilMs, texts) => {
    const made: (Made | TemplateFailed | undefined)[] = []
    const makeSome = () => {
      do {
        const [make, recipient] = [makerOf(texts[made.length]), recipients[made.length]!]
        made.push(make && outcomeOf(make, { recipient, trigger, campaign, watch, left: limits.made }))
      } while (made.length < recipients.length && !slices.isOver())
    }
    while (made.length < recipients.length && (made.length === 0 || Date.now() < untilMs)) await slices.give(makeSome)
    return made
  }
}

/** A campaign may have thousands of contents, of languages and variants. Those that were read are kept up to a size. */
function createMakers(source: Source): (text: string | undefined) => Make<Values> | undefined {
  const makers = new Map<string | undefined, Make<Values> | undefined>()
  let kept = 0
  return (text) => {
    if (makers.has(text)) return makers.get(text)
    const { message, live_activity } = contentOf(source, text)
    const content = { message, live_activity }
    const size = JSON.stringify(content).length
    const make = size > limits.source ? undefined : plainContent(content)
    kept += Math.min(size, limits.source)
    if (kept > limits.kept) {
      makers.clear()
      kept = 0
    }
    makers.set(text, make)
    return make
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
