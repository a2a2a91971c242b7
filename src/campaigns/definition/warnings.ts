import { setImmediate } from 'node:timers/promises'
import { isTemplate, readTemplate, templatesOf } from '../../templates/templates.ts'
import { type Campaign, unknownFields } from './definition.ts'
import { everyMessage } from './messages.ts'
import { richWarnings } from './rich.ts'
import { isOver } from './schedule-rules.ts'
import { translationWarnings } from './text-warnings.ts'

/** For each template, the names in it, and what is probably not meant. The oldest entry is dropped first. */
const names = new Map<string, { all: readonly string[]; doubts: readonly string[] }>()
const mostNames = 2_000
/** Characters of templates that one response parses, so that a long list costs no more than one long campaign. */
const mostRead = 65_536
/** Characters between two pauses: parsing them takes a few milliseconds. */
const perTurn = 2_048

/** Parses the templates that `warningsOf` reports on. */
export async function readWarnings(campaigns: readonly Campaign[]): Promise<void> {
  let [read, sinceTurn] = [0, 0]
  for (const campaign of campaigns)
    for (const [path, source = ''] of templatesOf(campaign)) {
      if (!isTemplate(source) || names.has(source)) continue
      read += source.length
      sinceTurn += source.length
      if (read > mostRead) return
      if (names.size >= mostNames) names.delete(names.keys().next().value!)
      const template = readTemplate(source, path, [])
      const [all, doubts] = template ? [template.names, template.doubts()] : [[], []]
      names.set(source, { all: all.slice(0, 50), doubts })
      if (sinceTurn < perTurn) continue
      sinceTurn = 0
      await setImmediate()
    }
}

/** Warnings about a campaign that can be saved, but probably does not do what its author expects. */
export function warningsOf(campaign: Campaign): string[] {
  const { type, schedule, live_activity } = campaign
  const warnings: string[] = []
  if (type === 'scheduled' && schedule && isOver(schedule, Date.now()))
    warnings.push('The schedule has no occurrence ahead, so the campaign is not sent.')
  for (const name of ['message', 'variants', 'steps'] as const)
    if (live_activity && campaign[name])
      warnings.push(`${name} is not sent: the campaign starts a Live Activity instead.`)
  for (const [path, source = ''] of templatesOf(campaign))
    for (const doubt of names.get(source)?.doubts ?? []) warnings.push(`${path} ${doubt}.`)
  for (const one of everyMessage(campaign)) warnings.push(...richWarnings(one.message, one.path))
  warnings.push(...translationWarnings(campaign, (source) => (isTemplate(source) ? names.get(source)?.all : [])))
  return warnings.slice(0, 20)
}

/** Warnings about fields of a campaign as it was given. */
export const ignoredFields = (given: unknown): string[] =>
  unknownFields(given).map((path) => `${path} is not a field of a campaign, and is ignored.`)
