import type { Detail } from '../../platform/errors.ts'
import type { CampaignFields } from './schema.ts'

/** What a campaign lacks to run. It is saved nevertheless while it is a draft; only then it may not be active. */
export function cannotRun({ type, schedule, event_trigger, default_audience }: CampaignFields): Detail[] {
  const lacks: Detail[] = []
  const add = (path: string, message: string) => void lacks.push({ path, message })
  if (type === 'scheduled') {
    if (!schedule) add('schedule', 'must be given: a scheduled campaign runs at its times')
    if (!default_audience) add('default_audience', 'must be given: a scheduled campaign goes to it')
  }
  if (type === 'event_triggered' && !event_trigger)
    add('event_trigger', 'must be given: an event_triggered campaign waits for its event')
  if (type !== 'event_triggered' && event_trigger)
    add('event_trigger', `must not be given: the campaign is ${type}, not event_triggered`)
  return lacks
}
