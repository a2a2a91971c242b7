import { parseDuration } from '../../platform/duration.ts'
import type { Detail } from '../../platform/errors.ts'
import { isObject } from '../../platform/fields.ts'
import { type AttributeCondition, hasReference, readConditions, type Segment } from '../../segments/segments.ts'
import type { CampaignFields } from './schema.ts'

type Journeying = Pick<CampaignFields, 'type' | 'event_trigger' | 'steps' | 'exit' | 'conversion' | 'live_activity'>
type Awaited = { event: string; where?: object[] }

/** Every event that a campaign names, with its path. */
function awaitedEvents({ event_trigger, exit }: Journeying): [path: string, awaited: Awaited][] {
  return [
    ...(event_trigger ? [['event_trigger', event_trigger] satisfies [string, Awaited]] : []),
    ...(event_trigger?.unless ? [['event_trigger.unless', event_trigger.unless] satisfies [string, Awaited]] : []),
    ...(exit ? [['exit', exit] satisfies [string, Awaited]] : [])
  ]
}

/**
 * Problems in the conditions of events that have another fault, such as no name. `journeyProblems` leaves such events out,
 * and all problems are to be listed at once.
 */
export function conditionProblems(campaign: Record<string, unknown>, faulty: readonly Detail[]): Detail[] {
  const problems: Detail[] = []
  const isFaulty = (path: string) => faulty.some((one) => one.path.startsWith(path))
  const { exit, event_trigger } = campaign
  const events = [
    ['exit', exit],
    ['event_trigger', event_trigger],
    ['event_trigger.unless', isObject(event_trigger) ? event_trigger.unless : undefined]
  ] as const
  for (const [path, awaited] of events)
    if (
      isFaulty(path.split('.')[0]!) &&
      !isFaulty(`${path}.where`) &&
      isObject(awaited) &&
      Array.isArray(awaited.where)
    )
      readConditions(awaited.where, `${path}.where`, problems)
  return problems
}

/** Rules for events and steps that a schema cannot express. */
export function journeyProblems(campaign: Journeying): Detail[] {
  const problems: Detail[] = []
  const add = (path: string, message: string) => void problems.push({ path, message })
  for (const [path, { where = [] }] of awaitedEvents(campaign)) {
    const conditions = readConditions(where, `${path}.where`, problems)
    for (const [index, condition] of conditions.entries())
      if (refers(condition) && (path === 'event_trigger' || condition.operator === 'matches'))
        add(
          `${path}.where[${index}].value`,
          path === 'event_trigger'
            ? 'must not refer to a trigger: the event itself makes the trigger'
            : 'must not refer to the trigger in a pattern'
        )
  }
  const { event_trigger, steps, exit, live_activity } = campaign
  if (event_trigger?.unless && event_trigger.delay === undefined)
    add('event_trigger.unless', 'must not be given without a delay: the other event is awaited during the delay')
  if (exit && !steps) add('exit', 'must not be given without steps')
  if (steps && live_activity) add('live_activity', 'must not be given beside steps')
  const ids = new Set<string>()
  for (const [index, { id, wait, message, variants }] of (steps ?? []).entries()) {
    const path = `steps[${index}]`
    if (ids.has(id)) add(`${path}.id`, 'must not be the id of an earlier step')
    ids.add(id)
    if (message && variants) add(`${path}.variants`, 'must not be given beside message')
    if (!message && !variants) add(`${path}.message`, 'must be given, or variants')
    if (index === 0 && wait !== undefined)
      add(`${path}.wait`, 'must not be given: the first step is sent at once, or after event_trigger.delay')
  }
  return problems
}

const refers = ({ value }: AttributeCondition): boolean =>
  (Array.isArray(value) ? value : [value]).some((one) => typeof one === 'string' && hasReference(one))

/** The conditions of each event that a campaign names, as segments whose patterns can be checked. */
export const eventSegments = (campaign: Journeying): [path: string, segment: Segment][] =>
  awaitedEvents(campaign).map(([path, { event, where = [] }]) => [
    path,
    { event, operator: 'at_least', count: 1, where: where as AttributeCondition[] }
  ])

/** The names of the events that an active campaign reacts to. */
export const eventNames = (campaign: Journeying): string[] => [
  ...new Set([
    ...awaitedEvents(campaign).map(([, { event }]) => event),
    ...(campaign.conversion ? [campaign.conversion.event] : [])
  ])
]

/** How long a campaign reacts to events after its last trigger. `waits`: its delay, those of its steps, and conversions. */
export const reactsForMs = (waits: (string | null)[]): number =>
  waits.reduce((sum, wait) => sum + (parseDuration(wait) ?? 0), marginMs)

/** Steps wait for the next full minute, triggers for workers, throttles and quiet hours. */
const marginMs = 7 * 86_400_000
