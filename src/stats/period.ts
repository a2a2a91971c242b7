import { Refusal } from '../platform/errors.ts'
import { instantText } from '../platform/time.ts'
import { instantRule } from '../segments/segments.ts'

export type Interval = 'hour' | 'day'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** The length of a point, the most points of a response, and the points of a period without a begin. */
const intervals = {
  hour: { ms: hourMs, most: 31 * 24, usual: 48 },
  day: { ms: dayMs, most: 400, usual: 30 }
}

/** Whole hours or days, from the first until before the end. */
export interface Period {
  fromMs: number
  untilMs: number
  stepMs: number
}

/** Reads a period, and refuses one with no points or too many. All faults are told at once. */
export function readPeriod(
  given: { from?: string | undefined; to?: string | undefined; interval?: Interval | undefined },
  nowMs: number
): Period {
  const { ms: stepMs, most, usual } = intervals[given.interval ?? 'day']
  const faults: { path: string; message: string }[] = []
  const read = (path: 'from' | 'to'): number | undefined => {
    const text = given[path]
    const instant = text === undefined ? undefined : instantText(text)
    if (text !== undefined && instant === undefined) faults.push({ path, message: instantRule })
    return instant === undefined ? undefined : Date.parse(instant)
  }
  const [from, to = nowMs] = [read('from'), read('to')]
  const untilMs = Math.ceil((to + (given.to === undefined ? 1 : 0)) / stepMs) * stepMs
  const fromMs = from === undefined ? untilMs - usual * stepMs : Math.floor(from / stepMs) * stepMs
  if (faults.length === 0 && fromMs >= untilMs) faults.push({ path: 'from', message: 'must be before to' })
  if (faults.length === 0 && (untilMs - fromMs) / stepMs > most)
    faults.push({ path: 'from', message: `must be at most ${most} ${given.interval ?? 'day'}s before to` })
  const [first] = faults
  if (first) throw new Refusal('invalid_parameter', `${first.path}: ${first.message}`, faults)
  return { fromMs, untilMs, stepMs }
}
