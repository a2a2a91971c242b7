const dayMs = 24 * 3_600_000

export const periods = {
  hours: { label: 'Last 48 hours', interval: 'hour', ms: 2 * dayMs },
  week: { label: 'Last 7 days', interval: 'hour', ms: 7 * dayMs },
  month: { label: 'Last 30 days', interval: 'day', ms: 30 * dayMs },
  quarter: { label: 'Last 90 days', interval: 'day', ms: 90 * dayMs },
  year: { label: 'Last 365 days', interval: 'day', ms: 365 * dayMs }
} as const
export type Period = keyof typeof periods

const hourMs = 3_600_000

/** The parameters of a period that ends now. Whole hours, so that the link to the table does not change all the time. */
export function queryOf(period: Period) {
  const { interval, ms } = periods[period]
  const hour = Math.floor(Date.now() / hourMs) * hourMs
  return { interval, from: new Date(hour - ms).toISOString() }
}
