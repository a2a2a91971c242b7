import type { Db } from '../platform/db/db.ts'
import { durationRule, parseDuration } from '../platform/duration.ts'
import { type Detail, Refusal } from '../platform/errors.ts'
import { isTimeZone } from '../platform/time.ts'
import { topicDefaults } from '../preferences/preferences.ts'
import type { MessageLimit, Project, ProjectChanges, ProjectHours } from '../projects/projects.ts'

/** Rules of a project over all its campaigns, as a request gives them. Null removes them, absent changes nothing. */
export interface GivenRules {
  message_limits?: MessageLimit[] | null
  quiet_hours?: (Pick<ProjectHours, 'from' | 'to'> & Partial<ProjectHours>) | null
}

const dayMs = 86_400_000

/** The rules with their defaults, and without unknown fields. */
export function readRules({ message_limits, quiet_hours }: GivenRules): Pick<ProjectChanges, keyof GivenRules> {
  const limits = message_limits?.map(({ count, within, topic }) => ({ count, within, ...(topic && { topic }) }))
  return {
    ...(message_limits !== undefined && { message_limits: limits ?? null }),
    ...(quiet_hours !== undefined && {
      quiet_hours: quiet_hours && only({ timezone: 'device', action: 'hold', ...quiet_hours })
    })
  }
}

/**
 * Checks what a schema cannot express, in the project as the changes make it: a limit counts messages that are kept, so
 * it depends on the retention, and either may be the one that stays. One refusal names all faults.
 */
export async function checkRules(tx: Db, project: Project, changes: ProjectChanges): Promise<void> {
  const problems = [
    ...(changes.message_limits ? await limitProblems(tx, project) : keptProblems(project, changes)),
    ...(changes.quiet_hours ? hoursProblems(changes.quiet_hours) : [])
  ]
  if (problems.length > 0)
    throw new Refusal('invalid_parameter', `${problems[0]!.path}: ${problems[0]!.message}`, problems)
}

/** Faults of new limits. */
async function limitProblems(tx: Db, { id, retention, messageLimits }: Project): Promise<Detail[]> {
  const problems: Detail[] = []
  const add = (path: string, message: string) => void problems.push({ path, message })
  const topics = messageLimits.flatMap(({ topic }) => topic ?? [])
  const known = await topicDefaults(tx, id, topics)
  for (const [index, { within, topic }] of messageLimits.entries()) {
    const path = `message_limits[${index}]`
    const days = daysOf(within)
    if (days === undefined) add(`${path}.within`, durationRule)
    else if (days > retention.messages_days)
      add(
        `${path}.within`,
        `must be at most ${retention.messages_days}d, as long as messages are kept: shorten it, or raise retention.messages_days`
      )
    if (topic !== undefined && !known.has(topic)) add(`${path}.topic`, 'is not a topic of this project')
  }
  return problems
}

/** Faults of a new retention with the limits that stay. */
function keptProblems({ retention, messageLimits }: Project, changes: ProjectChanges): Detail[] {
  if (changes.retention?.messages_days === undefined) return []
  const withDays = messageLimits.map(({ within }) => ({ within, days: daysOf(within) ?? 0 }))
  const longest = withDays.reduce((one, other) => (other.days > one.days ? other : one), { within: '', days: 0 })
  if (longest.days <= retention.messages_days) return []
  const message =
    `must be at least ${longest.days}, because message_limits count messages within ${longest.within}: ` +
    'keep them longer, or change message_limits in the same request'
  return [{ path: 'retention.messages_days', message }]
}

const daysOf = (within: string): number | undefined => {
  const ms = parseDuration(within)
  return ms && Math.ceil(ms / dayMs)
}

const only = ({ from, to, timezone, action }: ProjectHours): ProjectHours => ({ from, to, timezone, action })

function hoursProblems({ from, to, timezone }: ProjectHours): Detail[] {
  const problems: Detail[] = []
  if (from === to) problems.push({ path: 'quiet_hours.to', message: 'must not be the same time as from' })
  if (timezone !== 'device' && timezone !== 'user' && !isTimeZone(timezone))
    problems.push({
      path: 'quiet_hours.timezone',
      message: 'must be device, user or the IANA name of a time zone, such as Asia/Seoul'
    })
  return problems
}
