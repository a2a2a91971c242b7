import { LiquidError, type Template as Parsed, Token } from 'liquidjs'
import { type Detail, Refusal } from '../platform/errors.ts'
import { isStorable } from '../platform/json.ts'
import { createEngine, templateLimits } from './engine.ts'

export const templateRoots = ['trigger', 'user', 'device', 'campaign'] as const
export type TemplateRoot = (typeof templateRoots)[number]

/** What a template can speak of. What it does not depend on may be left out. */
export type TemplateScope = Partial<Record<TemplateRoot, Readonly<Record<string, unknown>>>>

export interface Template {
  readonly dependsOn: ReadonlySet<TemplateRoot>
  /** Names it speaks of that nobody gives a value. */
  readonly unknown: readonly string[]
  /** Throws `TemplateFailed`. Synchronous and short: see the limits of the engine. */
  render(scope: TemplateScope): string
}

/** A template that cannot be rendered with these values: it fails one message and no more. */
export class TemplateFailed extends Error {
  override readonly name = 'TemplateFailed'
}

const engine = createEngine()

/** Most texts are only text. */
export const isTemplate = (text: string): boolean => text.includes('{{') || text.includes('{%')

/** Reads a template, once for each version of a campaign. Throws `Refusal('invalid_template')`. */
export function compileTemplate(source: string, path = 'template'): Template {
  const problems: Detail[] = []
  const template = readTemplate(source, path, problems)
  const [first] = problems
  if (first) throw new Refusal('invalid_template', `${first.path}: ${first.message}`, problems)
  return template!
}

/** Like `compileTemplate`, but adds to a list of problems, and then answers nothing. */
export function readTemplate(source: string, path: string, problems: Detail[]): Template | undefined {
  try {
    const fault = tooLarge(source)
    if (fault) throw new Error(fault)
    if (!isTemplate(source)) return { dependsOn: new Set(), unknown: [], render: () => source }
    const parsed = engine.parse(source)
    const { dependsOn, unknown } = namesIn(parsed)
    return { dependsOn, unknown, render: (scope) => render(parsed, dependsOn, scope) }
  } catch (error) {
    problems.push({ path, message: placed(error) })
    return undefined
  }
}

function tooLarge(source: string): string | undefined {
  if (source.length > templateLimits.source) return `must be at most ${templateLimits.source} characters`
  // An end tag closes one level, any other may open one: an upper bound that costs nothing.
  let depth = 0
  for (const [, name] of source.matchAll(/\{%-?\s*(\w+)/g)) {
    if (name!.startsWith('end')) depth--
    else if (/^(?:if|unless|for|case|capture)$/.test(name!)) depth++
    if (depth > templateLimits.depth) return `must not nest tags deeper than ${templateLimits.depth} levels`
  }
  return undefined
}

/** Every root that is mentioned, also where a variable of the template hides it: one too many does no harm. */
function namesIn(parsed: Parsed[]): Pick<Template, 'dependsOn' | 'unknown'> {
  const { variables, globals, locals } = withoutPlaces(() => engine.analyzeSync(parsed, { partials: false }))
  const known: readonly string[] = templateRoots
  return {
    dependsOn: new Set(templateRoots.filter((root) => Object.hasOwn(variables, root))),
    unknown: Object.keys(globals).filter((name) => !known.includes(name) && !Object.hasOwn(locals, name))
  }
}

/**
 * The library tells the line and the column of every name, which nobody asks for here, and counts them from the start of
 * the template each time: the time grew with the square, up to a second for 16 KiB.
 */
function withoutPlaces<Result>(analyze: () => Result): Result {
  const { getPosition } = Token.prototype
  Token.prototype.getPosition = () => [1, 1]
  try {
    return analyze()
  } finally {
    Token.prototype.getPosition = getPosition
  }
}

function render(parsed: Parsed[], dependsOn: ReadonlySet<TemplateRoot>, scope: TemplateScope): string {
  // Only what it is known to depend on: a name put together while rendering finds nothing, for every recipient alike.
  const visible: Record<string, unknown> = Object.create(null)
  for (const root of dependsOn) visible[root] = scope[root] ?? {}
  try {
    return storable(engine.renderSync(parsed, visible))
  } catch (error) {
    throw new TemplateFailed(storable(placed(error).slice(0, 300)), { cause: error })
  }
}

/**
 * `split: "" | first` takes half of an emoji, and decoders make any character. No phone shows half a character or NUL,
 * and PostgreSQL refuses them: one such text would keep the whole chunk that it is written with from being sent.
 */
const storable = (text: string): string => (isStorable(text) ? text : text.replace(/[\0\p{Surrogate}]/gu, ''))

export const tooLong = 'it takes longer than one rendering may; loop over less'

/** Where the words of the library say little to whoever wrote the template. */
const inWords = new Map([
  ['memory alloc limit exceeded', 'it takes more work than one rendering may; loop over less'],
  ['template render limit exceeded', tooLong]
])

/** "line 2, column 7: tag if is not closed", in as far as the library tells. */
function placed(error: unknown): string {
  const message = (error as Error).message
  if (!LiquidError.is(error)) return message
  const [line, column] = error.token.getPosition()
  const plain = message.split('\n')[0]!.replace(/(?:, file:.*)?, line:\d+, col:\d+$/, '')
  return `line ${line}, column ${column}: ${inWords.get(plain) ?? plain}`
}

/** `user.name` is a property, `user.id` the id the project chose, `user.properties.id` the property of that name. */
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
