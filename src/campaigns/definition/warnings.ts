import { setImmediate } from 'node:timers/promises'
import type { Detail } from '../../platform/errors.ts'
import { isTemplate, readTemplate, templatesOf } from '../../templates/templates.ts'
import { type Campaign, unknownFields } from './definition.ts'
import { everyMessage } from './messages.ts'
import { richWarnings } from './rich.ts'
import { isOver } from './schedule-rules.ts'
import { translationWarnings } from './text-warnings.ts'

interface Read {
  /** The names in the template; undefined if it is refused. */
  names: ReadonlySet<string> | undefined
  /** What is probably not meant. */
  doubts: readonly string[]
}

/** Templates that were read. The oldest entry is dropped first. */
const known = new Map<string, Read>()
const mostKnown = 2_000
/** Warnings of a response. More are not even made: a campaign may give cause for hundreds of thousands. */
const most = 20
/** Characters of templates that one response parses, so that a long list costs no more than one long campaign. */
const mostRead = 65_536
/** Characters between two pauses: parsing them takes a few milliseconds. */
const perTurn = 2_048

/** Parses the templates that `warningsOf` reports on. */
export async function readWarnings(campaigns: readonly Campaign[]): Promise<void> {
  let [read, sinceTurn] = [0, 0]
  for (const campaign of campaigns)
    for (const [path, source = ''] of templatesOf(campaign)) {
      if (!isTemplate(source) || known.has(source)) continue
      read += source.length
      sinceTurn += source.length
      if (read > mostRead) return
      if (known.size >= mostKnown) known.delete(known.keys().next().value!)
      known.set(source, readOne(source, path))
      if (sinceTurn < perTurn) continue
      sinceTurn = 0
      await setImmediate()
    }
}

/** A campaign that an earlier version saved may have a template that this one refuses. */
function readOne(source: string, path: string): Read {
  const problems: Detail[] = []
  const template = readTemplate(source, path, problems)
  if (!template) return { names: undefined, doubts: [`is refused, so messages with it fail: ${problems[0]!.message}`] }
  return { names: new Set(template.names.slice(0, 50)), doubts: template.doubts() }
}

/** Warnings about a campaign that can be saved, but probably does not do what its author expects. */
export const warningsOf = (campaign: Campaign): string[] => [...warningsIn(campaign).take(most)]

function* warningsIn(campaign: Campaign): Generator<string> {
  const { type, schedule, live_activity } = campaign
  if (type === 'scheduled' && schedule && isOver(schedule, Date.now()))
    yield 'The schedule has no occurrence ahead, so the campaign is not sent.'
  for (const name of ['message', 'variants', 'steps'] as const)
    if (live_activity && campaign[name]) yield `${name} is not sent: the campaign starts a Live Activity instead.`
  for (const [path, source = ''] of templatesOf(campaign))
    for (const doubt of known.get(source)?.doubts ?? []) yield `${path} ${doubt}.`
  for (const { message, path } of everyMessage(campaign)) yield* richWarnings(message, path)
  yield* translationWarnings(campaign, (source) => (isTemplate(source) ? known.get(source)?.names : none))
}

const none: ReadonlySet<string> = new Set()

/** Warnings about fields of a campaign as it was given. */
export const ignoredFields = (given: unknown): string[] =>
  unknownFields(given).map((path) => `${path} is not a field of a campaign, and is ignored.`)
