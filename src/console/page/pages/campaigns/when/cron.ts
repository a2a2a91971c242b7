/** A recurring time that the form can show without an expression. `days` are weekdays, 0 is Sunday. */
export interface Repeat {
  every: 'hour' | 'day' | 'week' | 'month'
  minute: number
  hour: number
  days: number[]
  date: number
}

const number = (text: string, most: number, least = 0) =>
  /^\d{1,2}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined

/** Reads the expressions that `cronOf` writes; undefined for all others. */
export function repeatOf(cron: string): Repeat | undefined {
  const [minutes = '', hours = '', dates = '', months, weekdays = '', more] = cron.trim().split(/\s+/)
  const minute = number(minutes, 59)
  if (minute === undefined || months !== '*' || more !== undefined) return undefined
  const known = { minute, hour: number(hours, 23) ?? 9, days: [1], date: 1 }
  if (hours === '*') return dates === '*' && weekdays === '*' ? { ...known, every: 'hour' } : undefined
  if (number(hours, 23) === undefined) return undefined
  const date = number(dates, 31, 1)
  if (date !== undefined) return weekdays === '*' ? { ...known, every: 'month', date } : undefined
  if (dates !== '*') return undefined
  if (weekdays === '*') return { ...known, every: 'day' }
  const days = weekdays.split(',').map((day) => number(day, 7))
  if (days.includes(undefined)) return undefined
  return { ...known, every: 'week', days: [...new Set(days.map((day) => day! % 7))].sort() }
}

export function cronOf({ every, minute, hour, days, date }: Repeat): string {
  if (every === 'hour') return `${minute} * * * *`
  if (every === 'day') return `${minute} ${hour} * * *`
  if (every === 'month') return `${minute} ${hour} ${date} * *`
  return `${minute} ${hour} * * ${days.length > 0 ? [...days].sort().join(',') : '*'}`
}
