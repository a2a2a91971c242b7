import { type Template as Parsed, Token } from 'liquidjs'
import { type Detail, Refusal } from '../platform/errors.ts'
import { isStorable } from '../platform/json/storable.ts'
import { doubtsIn } from './doubts.ts'
import { createEngine, templateLimits } from './engine.ts'
import { placed as placedFault } from './faults.ts'
import { type TemplateRoot, templateRoots } from './roots.ts'

export { tooLong } from './faults.ts'
export { type TemplateRoot, templateRoots }

/** The values of a template. Roots that it does not depend on may be absent. */
export type TemplateScope = Partial<Record<TemplateRoot, Readonly<Record<string, unknown>>>>

export interface Template {
  readonly dependsOn: ReadonlySet<TemplateRoot>
  /** All values it refers to, such as user.name. */
  readonly names: readonly string[]
  /** Names in it that never have a value, and what else is probably not meant, each as the end of a sentence. */
  doubts(): readonly string[]
  /** Throws `TemplateFailed`. Synchronous and short: see the limits of the engine. */
  render(scope: TemplateScope): string
}

/** A template that cannot be rendered with these values: it fails one message and no more. */
export class TemplateFailed extends Error {
  override readonly name = 'TemplateFailed'
}

export const engine = createEngine()

/** Whether a text has tags. Most texts have none. */
export const isTemplate = (text: string): boolean => text.includes('{{') || text.includes('{%')

/** Parses a template, once for each version of a campaign. Throws `Refusal('invalid_template')`. */
export function compileTemplate(source: string, path = 'template'): Template {
  const problems: Detail[] = []
  const template = readTemplate(source, path, problems)
  const [first] = problems
  if (first) throw new Refusal('invalid_template', `${first.path}: ${first.message}`, problems)
  return template!
}

/** Like `compileTemplate`, but adds problems to a list and returns undefined. */
export function readTemplate(source: string, path: string, problems: Detail[]): Template | undefined {
  try {
    const fault = tooLarge(source)
    if (fault) throw new Error(fault)
    if (!isTemplate(source)) return { dependsOn: new Set(), names: [], doubts: () => [], render: () => source }
    const parsed = engine.parse(source)
    const facts = factsOf(parsed)
    return { ...facts, doubts: () => doubtsAbout(parsed), render: (scope) => render(parsed, facts.dependsOn, scope) }
  } catch (error) {
    problems.push({ path, message: placed(error) })
    return undefined
  }
}

function tooLarge(source: string): string | undefined {
  if (source.length > templateLimits.source) return `must be at most ${templateLimits.source} characters`
  // Counts opening tags and end tags, without parsing: the result is an upper bound of the depth.
  let depth = 0
  for (const [, name] of source.matchAll(/\{%-?\s*(\w+)/g)) {
    if (name!.startsWith('end')) depth--
    else if (/^(?:if|unless|for|case|capture)$/.test(name!)) depth++
    if (depth > templateLimits.depth) return `must not nest tags deeper than ${templateLimits.depth} levels`
  }
  return undefined
}

const analyzed = (parsed: Parsed[]) => engine.analyzeSync(parsed, { partials: false })

/** Includes roots that a variable of the template hides: one too many does no harm. */
function factsOf(parsed: Parsed[]): Pick<Template, 'dependsOn' | 'names'> {
  const { variables } = withoutPlaces(() => analyzed(parsed))
  return {
    names: templateRoots.flatMap((root) => [...new Set((variables[root] ?? []).map(String))]),
    dependsOn: new Set(templateRoots.filter((root) => Object.hasOwn(variables, root)))
  }
}

/** Analyzes once more, because few templates are asked for their doubts and many are kept. */
const doubtsAbout = (parsed: Parsed[]) => withoutPlaces(() => doubtsIn(parsed, analyzed(parsed)))

/**
 * Switches off positions during an analysis, which does not need them. The library counts lines from the start of the
 * template for every name, which takes quadratic time: up to a second for 16 KiB.
 */
export function withoutPlaces<Result>(analyze: () => Result): Result {
  const { getPosition } = Token.prototype
  Token.prototype.getPosition = () => [1, 1]
  try {
    return analyze()
  } finally {
    Token.prototype.getPosition = getPosition
  }
}

function render(parsed: Parsed[], dependsOn: ReadonlySet<TemplateRoot>, scope: TemplateScope): string {
  // Only known dependencies: a name that is composed while rendering is empty, for every recipient alike.
  const visible: Record<string, unknown> = Object.create(null)
  for (const root of dependsOn) visible[root] = scope[root] ?? {}
  try {
    return storable(engine.renderSync(parsed, visible))
  } catch (error) {
    throw new TemplateFailed(storable(placed(error).slice(0, 300)), { cause: error })
  }
}

/**
 * Removes NUL and lone surrogates. `split: "" | first` takes half of an emoji, and decoders create any character; PostgreSQL
 * refuses such a text, and the whole batch with it.
 */
export const storable = (text: string): string => (isStorable(text) ? text : text.replace(/[\0\p{Surrogate}]/gu, ''))

const placed = (error: unknown) => placedFault(error, Object.keys(engine.filters))

/** `user.name` is a property, `user.id` the project_user_id, `user.properties.id` the property of that name. */
export const userScope = (projectUserId: string | null, properties: Readonly<Record<string, unknown>>) => ({
  ...properties,
  id: projectUserId,
  properties
})

/** `device.locale` is the region, as in the segment language. */
export const deviceScope = (id: string, platform: string, facts: Readonly<Record<string, string | null>>) => ({
  id,
  platform,
  locale: facts.locale_region ?? null,
  language: facts.locale_language ?? null,
  timezone: facts.timezone ?? null
})
