import type { Pool } from '../platform/db/db.ts'
import { durationRule, parseDuration } from '../platform/duration.ts'
import { type Detail, Refusal } from '../platform/errors.ts'
import { isTimeZone } from '../platform/time.ts'
import { topicDefaults } from '../preferences/preferences.ts'
import type { MessageLimit, Project, ProjectHours } from '../projects/projects.ts'

/** Rules of a project over all its campaigns, as a request gives them. Null removes them, absent changes nothing. */
export interface GivenRules {
  message_limits?: MessageLimit[] | null
  quiet_hours?: (Pick<ProjectHours, 'from' | 'to'> & Partial<ProjectHours>) | null
}

const dayMs = 86_400_000

/** Checks what a schema cannot express, and returns the rules with their defaults. One refusal names all faults. */
export async function checkRules(
  pool: Pool,
  { id, retention }: Pick<Project, 'id' | 'retention'>,
  { message_limits, quiet_hours }: GivenRules
): Promise<{ message_limits?: MessageLimit[] | null; quiet_hours?: ProjectHours | null }> {
  const problems: Detail[] = []
  const add = (path: string, message: string) => void problems.push({ path, message })
  const known = await topicDefaults(
    pool,
    id,
    (message_limits ?? []).flatMap(({ topic }) => topic ?? [])
  )
  for (const [index, { within, topic }] of (message_limits ?? []).entries()) {
    const path = `message_limits[${index}]`
    const ms = parseDuration(within)
    if (ms === undefined) add(`${path}.within`, durationRule)
    else if (ms > retention.messages_days * dayMs)
      add(`${path}.within`, `must be at most ${retention.messages_days}d, as long as messages are kept`)
    if (topic !== undefined && !known.has(topic)) add(`${path}.topic`, 'is not a topic of this project')
  }
  const hours = quiet_hours && { timezone: 'device', action: 'hold' as const, ...quiet_hours }
  if (hours) problems.push(...hoursProblems(hours))
  if (problems.length > 0)
    throw new Refusal('invalid_parameter', `${problems[0]!.path}: ${problems[0]!.message}`, problems)
  const limits = message_limits?.map(({ count, within, topic }) => ({ count, within, ...(topic && { topic }) }))
  return {
    ...(message_limits !== undefined && { message_limits: limits ?? null }),
    ...(hours !== undefined && { quiet_hours: hours && only(hours) })
  }
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
