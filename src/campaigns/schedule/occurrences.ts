import { Cron } from 'croner'
import { parseDuration } from '../../platform/duration.ts'
import { type ProjectId, timedIdOf } from '../../platform/ids.ts'
import { readTime } from '../../platform/time.ts'
import type { Schedule } from '../definition/schema.ts'
import { instantOf, isInGap, offsetAt, readWall, wallOf, wallText } from './wall-time.ts'
import { zoneNames } from './zone-names.ts'

const hourMs = 3_600_000
/** Clocks are changed by less than this, and no more often. */
const marginMs = 3 * hourMs
const defaultLateMs = hourMs

/** One time at which a schedule runs: the instant, and what clocks of its zones show then. */
export interface Occurrence {
  at: number
  local: number
}

/** A cron pattern, read as times on a wall; the next one is after the given one. */
const patterns = new Map<string, { next(after: number): number | undefined }>()
const maxPatterns = 500
/** Next times are asked for again and again, once for each zone. */
const maxKnown = 1_000

function patternOf(cron: string) {
  const known = patterns.get(cron)
  if (known) return known
  // Without a zone: the rules about clocks that change are ours.
  const pattern = new Cron(cron, { utcOffset: 0, mode: '5-part' })
  const following = new Map<number, number | undefined>()
  const made = {
    next(after: number): number | undefined {
      if (following.has(after)) return following.get(after)
      const next = runAfter(pattern, after)
      if (following.size >= maxKnown) following.clear()
      following.set(after, next)
      return next
    }
  }
  if (patterns.size >= maxPatterns) patterns.clear()
  patterns.set(cron, made)
  return made
}

/** Undefined where none is found: looking for a day that no year has, such as 31 April, may exhaust the stack. */
function runAfter(pattern: Cron, after: number): number | undefined {
  try {
    return pattern.nextRun(new Date(after))?.getTime()
  } catch {
    return undefined
  }
}

/** The next time on a wall. */
function nextWall({ at, cron }: Schedule, after: number): number | undefined {
  if (cron !== undefined) return patternOf(cron).next(after)
  const wall = readWall(at ?? '')
  return wall !== undefined && wall > after ? wall : undefined
}

/** How far an occurrence is after a bound, in ms. A bound without an offset is a local time. */
function beyond(bound: string, { at, local }: Occurrence): number {
  const instant = readTime(bound)?.getTime()
  return instant === undefined ? local - readWall(bound)! : at - instant
}

const isOver = ({ ends_at }: Schedule, one: Occurrence) => ends_at !== undefined && beyond(ends_at, one) > 0

/** Whether `starts_at` and `ends_at` allow an occurrence. */
const isWithin = (schedule: Schedule, one: Occurrence): boolean =>
  (schedule.starts_at === undefined || beyond(schedule.starts_at, one) >= 0) && !isOver(schedule, one)

const zoneOf = ({ timezone = 'UTC' }: Schedule) => timezone
export const isOfUsers = ({ timezone }: Schedule): boolean => timezone === 'user'
export const lateMs = ({ late }: Schedule): number => parseDuration(late) ?? defaultLateMs

/** Occurrences in one zone, after `from` until `to`. Of several that fall on one instant, the last one counts. */
function inZone(schedule: Schedule, zone: string, from: number, to: number, most: number): Occurrence[] {
  const found = new Map<number, Occurrence>()
  let local = nextWall(schedule, wallOf(zone, from) - marginMs)
  const lastWall = wallOf(zone, to) + marginMs
  for (; local !== undefined && local <= lastWall && found.size <= most; local = nextWall(schedule, local)) {
    const at = instantOf(zone, local)
    if (at > from && at <= to && isWithin(schedule, { at, local })) found.set(at, { at, local })
  }
  return [...found.values()]
}

/** Zones that show the same time from a while before `from` until a while after `to` are one group. */
function groupsOfZones(from: number, to: number): string[] {
  const constant = new Map<number, string>()
  const others: string[] = []
  for (const zone of zoneNames()) {
    const offset = offsetAt(zone, from)
    const changes = [from - marginMs, to, to + marginMs].some((instant) => offsetAt(zone, instant) !== offset)
    if (changes) others.push(zone)
    else if (!constant.has(offset)) constant.set(offset, zone)
  }
  return [...constant.values(), ...others]
}

/** The occurrences after `from` until `to`, the earliest first and at most `most`. */
export function occurrencesIn(schedule: Schedule, from: number, to: number, most: number): Occurrence[] {
  const zones = isOfUsers(schedule) ? groupsOfZones(from, to) : [zoneOf(schedule)]
  const found = new Map<string, Occurrence>()
  for (const zone of zones)
    for (const one of inZone(schedule, zone, from, to, most)) found.set(`${one.at} ${one.local}`, one)
  return [...found.values()].sort((one, other) => one.at - other.at || one.local - other.local).slice(0, most)
}

/** The instant of the first occurrence after another instant; undefined: there is none. */
export function nextAfter(schedule: Schedule, from: number): number | undefined {
  if (!isOfUsers(schedule)) return nextInZone(schedule, zoneOf(schedule), from)?.at
  let earliest: number | undefined
  for (const zone of zoneNames()) {
    const at = nextInZone(schedule, zone, from)?.at
    if (at !== undefined && (earliest === undefined || at < earliest)) earliest = at
  }
  return earliest
}

/** Times outside of `starts_at` and `ends_at` that are looked at before the search ends. */
const mostTries = 1_000

function nextInZone(schedule: Schedule, zone: string, from: number): Occurrence | undefined {
  // Times that the clock has shown are over, also those that it shows twice.
  let local = nextWall(schedule, Math.max(wallOf(zone, from), beforeFirst(schedule, zone)))
  for (let tries = 0; local !== undefined && tries < mostTries; tries += 1) {
    const one = { at: instantOf(zone, local), local }
    if (isOver(schedule, one)) return undefined
    if (one.at > from && isWithin(schedule, one)) return one
    local = nextWall(schedule, local)
  }
  return undefined
}

/** What a clock in the zone shows just before the schedule starts. */
function beforeFirst({ starts_at }: Schedule, zone: string): number {
  if (starts_at === undefined) return Number.NEGATIVE_INFINITY
  const instant = readTime(starts_at)?.getTime()
  return instant === undefined ? readWall(starts_at)! - 1 : wallOf(zone, instant - 1)
}

/**
 * The next times of a schedule: instants, or local times if it follows the clocks of the users. An occurrence counts as
 * ahead while it is ahead for some users.
 */
export function upcoming(schedule: Schedule, now: number, count: number): string[] {
  const zone = isOfUsers(schedule) ? 'Etc/GMT+12' : zoneOf(schedule)
  const found: string[] = []
  let from = now
  while (found.length < count) {
    const next = nextInZone(schedule, zone, from)
    if (!next) return found
    found.push(isOfUsers(schedule) ? wallText(next.local) : new Date(next.at).toISOString())
    from = next.at
  }
  return found
}

/** The zones in which an occurrence is at this instant. */
export function zonesOf(schedule: Schedule, { at, local }: Occurrence): string[] {
  return zoneNames().filter((zone) => {
    if (instantOf(zone, local) !== at) return false
    const next = nextWall(schedule, local)
    // Where clocks go forward, several occurrences fall on one instant, and the last one counts.
    return next === undefined || next > local + marginMs || !isInGap(zone, local) || instantOf(zone, next) !== at
  })
}

const remember = <Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value => {
  const value = known.get(key) ?? make()
  if (!known.has(key) && known.size >= maxRemembered) known.clear()
  known.set(key, value)
  return value
}
/** Each step and batch of a trigger asks for the same zones and instants again. */
const maxRemembered = 200
const knownInstants = new Map<number, number[]>()
const knownZones = new Map<string, NarrowedZones>()

/** All instants at which an occurrence is somewhere on the earth. */
export const instantsOf = (local: number): number[] =>
  remember(knownInstants, local, () => [...new Set(zoneNames().map((zone) => instantOf(zone, local)))])

interface NarrowedZones {
  zones: string[]
  others: string[]
  fallback: boolean
}

/** The zones whose users a trigger is for. Undefined: it is for the users of all zones. */
export function zonesFor(
  schedule: Schedule | undefined,
  source: Readonly<Record<string, unknown>> | null | undefined
): NarrowedZones | undefined {
  if (!schedule || typeof source?.local !== 'string' || typeof source.at !== 'string') return undefined
  const occurrence = { at: Date.parse(source.at), local: readWall(source.local)! }
  return remember(knownZones, JSON.stringify([schedule, occurrence]), () => {
    const zones = zonesOf(schedule, occurrence)
    const chosen = new Set(zones)
    const others = zoneNames().filter((zone) => !chosen.has(zone))
    return { zones, others, fallback: isFallback(schedule, zones) }
  })
}

/** The fallback may be spelt in another case than the list of zones. */
const isFallback = ({ fallback_timezone = 'UTC' }: Schedule, zones: string[]): boolean =>
  zones.some((zone) => zone.toLowerCase() === fallback_timezone.toLowerCase())

/** The id of an occurrence's trigger: the same on every node and after every restart. */
export const occurrenceId = (projectId: ProjectId, campaignId: string, { at, local }: Occurrence, ofUsers: boolean) =>
  timedIdOf(JSON.stringify(['occurrence', projectId, campaignId, at, ...(ofUsers ? [local] : [])]), at)
