const hourMs = 3_600_000
const dayMs = 24 * hourMs

export const periods = {
  day: { label: '24 h', name: 'Last 24 hours', interval: 'hour', ms: dayMs },
  week: { label: '7 d', name: 'Last 7 days', interval: 'hour', ms: 7 * dayMs },
  month: { label: '30 d', name: 'Last 30 days', interval: 'day', ms: 30 * dayMs },
  quarter: { label: '90 d', name: 'Last 90 days', interval: 'day', ms: 90 * dayMs },
  year: { label: '1 y', name: 'Last 365 days', interval: 'day', ms: 365 * dayMs }
} as const
export type Period = keyof typeof periods

/** The parameters of a period that ends now. Whole hours, so that the link to the table does not change all the time. */
export function queryOf(period: Period) {
  const { interval, ms } = periods[period]
  const hour = Math.floor(Date.now() / hourMs) * hourMs
  // The hour or day that runs now is the last point.
  const step = interval === 'hour' ? hourMs : dayMs
  return { interval, from: new Date(hour + step - ms).toISOString() }
}
