import { flushCompileCache } from 'node:module'
import { readJson } from '../platform/json/names.ts'
import type { Source } from './content.ts'
import type { Made } from './making.ts'
import { notingMissing } from './missing.ts'
import { type Addressee, type Making, type Rendering, renderingOf } from './rendering.ts'
import { TemplateFailed } from './template.ts'

/**
 * The process that renders templates (record 0027). It has no credentials, no connection and no settings. The service
 * stops it if one rendering takes too long, and V8 ends it if one takes too much memory.
 */

/** A cached value. The service controls the cache: a key with a text adds it, `drop` removes keys. */
interface Cached {
  key: string
  /** JSON; absent if the value is cached already. */
  json?: string
}

export interface RenderRequest {
  drop: string[]
  campaign: Cached
  trigger: Cached
  /** A JSON list of recipients; null: render only the templates of `text` that are the same for all. */
  recipients: string | null
  text?: string | undefined
}

/** `missing`: names that had no value, if the campaign wants to know. */
export type RenderOutcome = { made: Made; missing?: string[] } | { failed: string }
/** Outcomes for the first recipients; fewer than requested if time or room ran out. */
export interface RenderResponse {
  outcomes: RenderOutcome[]
}

/** Time of one request, unless one recipient takes longer: requests of other projects wait. */
const sliceMs = 15
/** Characters of one response. */
const mostMade = 262_144

const campaigns = new Map<string, Rendering>()
/** The campaigns that want to know which values are missing. */
const watched = new Set<string>()
const triggers = new Map<string, { properties: Record<string, unknown>; making: Map<string, Making> }>()

function makingOf({ drop, campaign, trigger }: RenderRequest): Making {
  for (const key of drop) {
    campaigns.delete(key)
    watched.delete(key)
    triggers.delete(key)
  }
  if (campaign.json !== undefined) {
    const source = readJson(campaign.json) as Source
    campaigns.set(campaign.key, renderingOf(source))
    if (source.watch) watched.add(campaign.key)
  }
  if (trigger.json !== undefined)
    triggers.set(trigger.key, { properties: readJson(trigger.json) as Record<string, unknown>, making: new Map() })
  const { properties, making } = triggers.get(trigger.key)!
  const known = making.get(campaign.key) ?? campaigns.get(campaign.key)!.for({ properties })
  making.set(campaign.key, known)
  return known
}

function outcomeOf(make: () => Made, watch = false): RenderOutcome {
  try {
    if (!watch) return { made: make() }
    const [made, missing] = notingMissing(make)
    return missing.length > 0 ? { made, missing } : { made }
  } catch (error) {
    if (error instanceof TemplateFailed) return { failed: error.message }
    throw error
  }
}

function respond(request: RenderRequest): RenderResponse {
  const began = performance.now()
  const outcomes: RenderOutcome[] = []
  const making = makingOf(request)
  if (request.recipients === null) {
    outcomeOf(() => {
      making.shared(request.text)
      return { kind: 'alert', notification: {} }
    })
    return { outcomes }
  }
  let made = 0
  const watch = watched.has(request.campaign.key)
  for (const recipient of readJson(request.recipients) as Addressee[]) {
    if (made > mostMade || (outcomes.length > 0 && performance.now() - began > sliceMs)) break
    const outcome = outcomeOf(() => making.make(recipient), watch)
    made += JSON.stringify(outcome).length
    outcomes.push(outcome)
  }
  return { outcomes }
}

process.on('message', (request: RenderRequest) => process.send!(respond(request)))
process.on('disconnect', () => process.exit())
// A terminal sends these signals to all its processes. The service still needs this one to finish its work.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.send!('ready')
// Flushed now, because the process may be killed at any time.
flushCompileCache()
