import type { Campaign } from '../../../../../wire.ts'
import { repeatOf } from '../when/cron.ts'

type Schedule = NonNullable<Campaign['schedule']>

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const two = (value: number) => String(value).padStart(2, '0')
/** `a, b and c`. */
export const listed = (words: string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** A cron expression in words where the form can show it, and itself elsewhere. */
export function cronInWords(cron: string): string {
  const repeat = repeatOf(cron)
  if (!repeat) return `at the times of “${cron}”`
  const at = `at ${two(repeat.hour)}:${two(repeat.minute)}`
  if (repeat.every === 'hour') return `every hour at minute ${repeat.minute}`
  if (repeat.every === 'day') return `every day ${at}`
  if (repeat.every === 'month') return `on day ${repeat.date} of every month ${at}`
  return `every ${listed(repeat.days.map((day) => weekdays[day]!))} ${at}`
}

const wall = (local: string) => local.replace('T', ' ')

export function scheduleInWords({ at, cron, timezone, starts_at, ends_at }: Schedule): string {
  const zone = timezone === 'user' ? 'on the clock of each user' : `in the time zone ${timezone ?? 'UTC'}`
  const when = cron === undefined ? (at ? `once, on ${wall(at)}` : 'at a time that is not set') : cronInWords(cron)
  return [
    `${when}, ${zone}`,
    starts_at ? `not before ${wall(starts_at)}` : '',
    ends_at ? `not after ${wall(ends_at)}` : ''
  ]
    .filter(Boolean)
    .join(', ')
}

const units: [seconds: number, name: string][] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second']
]

/** `2 days`, from seconds. */
export function secondsInWords(seconds: number): string {
  const [size, name] = units.find(([one]) => seconds >= one && seconds % one === 0) ?? [1, 'second']
  const count = seconds / size
  return `${count.toLocaleString()} ${count === 1 ? name : `${name}s`}`
}

const letters: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** `30 minutes`, from a duration such as 30m; the text itself if it is not one. */
export function durationInWords(text: string): string {
  const [, count, unit] = /^(\d+)([smhdw])$/.exec(text.trim()) ?? []
  return count && unit ? secondsInWords(Number(count) * letters[unit]!) : text
}
