import { type Campaign, templatesOf } from './campaign-shape.ts'
import { readTemplate, templateRoots } from './template.ts'

const waiting = { scheduled: 'on a schedule', event_triggered: 'by events' } as const

/** What can be saved, but does not do what whoever wrote it seems to think. */
export function warningsOf(campaign: Campaign): string[] {
  const { type, message, live_activity } = campaign
  const warnings: string[] = []
  if (type !== 'api_triggered')
    warnings.push(`Campaigns of the type ${type} are kept, but do not run ${waiting[type]} yet.`)
  if (message && live_activity) warnings.push('message is not sent: the campaign starts a Live Activity instead.')
  for (const [path, source = ''] of templatesOf(campaign)) {
    // Most texts are only text, and a list has many campaigns.
    const unknown = source.includes('{') ? (readTemplate(source, path, [])?.unknown ?? []) : []
    for (const name of unknown)
      warnings.push(`${path} refers to ${name}, which is always empty: there are ${templateRoots.join(', ')}.`)
  }
  return warnings.slice(0, 20)
}
