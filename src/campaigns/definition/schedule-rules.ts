import { Cron } from 'croner'
import { parseDuration } from '../../platform/duration.ts'
import type { Detail } from '../../platform/errors.ts'
import { isTimeZone, readTime } from '../../platform/time.ts'
import { upcoming } from '../schedule/occurrences.ts'
import { readWall, wallRule } from '../schedule/wall-time.ts'
import type { CampaignFields, Schedule } from './schema.ts'

const cronRule = 'must be a cron expression of five fields for days that exist, such as 0 9 * * 1'
const zoneRule = 'must be the IANA name of a time zone, such as Europe/Berlin'
const boundRule = 'must be a time such as 2026-12-24T18:00Z, or a local one without an offset'
/** Messages of a late occurrence lie in the month in which it was due. */
const mostLateMs = 7 * 86_400_000
/** Without `?`, which stands for the time at which it is read, and without names such as @daily. */
const cronShape = /^[0-9A-Za-z*,/#-]+( +[0-9A-Za-z*,/#-]+){4}$/

/** What is wrong with the schedule of a campaign. */
export function scheduleProblems({ schedule }: CampaignFields): Detail[] {
  if (!schedule) return []
  const problems: Detail[] = []
  const add = (field: string, message: string) =>
    void problems.push({ path: field ? `schedule.${field}` : 'schedule', message })
  const { at, cron, timezone, fallback_timezone, starts_at, ends_at, late } = schedule
  if ((at === undefined) === (cron === undefined)) add('', 'must have either at or cron')
  if (at !== undefined && readWall(at) === undefined) add('at', `${wallRule}: timezone says where`)
  if (cron !== undefined && !isCron(cron)) add('cron', cronRule)
  if (timezone !== undefined && timezone !== 'user' && !isTimeZone(timezone)) add('timezone', `${zoneRule}, or user`)
  if (fallback_timezone !== undefined && !isTimeZone(fallback_timezone)) add('fallback_timezone', zoneRule)
  for (const [name, text] of Object.entries({ starts_at, ends_at })) {
    if (text === undefined) continue
    if (at !== undefined) add(name, 'must not be given beside at')
    if (!readTime(text) && readWall(text) === undefined) add(name, boundRule)
  }
  if (late !== undefined && (parseDuration(late) ?? Number.POSITIVE_INFINITY) > mostLateMs)
    add('late', 'must be at most 7 days')
  return problems
}

function isCron(cron: string): boolean {
  if (!cronShape.test(cron)) return false
  try {
    // Null for a day that no year has, such as 31 April; for some of them the search ends in an error.
    return new Cron(cron, { utcOffset: 0, mode: '5-part' }).nextRun() !== null
  } catch {
    return false
  }
}

/** Whether a schedule has no occurrence ahead. */
export const isOver = (schedule: Schedule, now: number): boolean => upcoming(schedule, now, 1).length === 0
