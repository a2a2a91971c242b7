import { Select } from '@mantine/core'
import { useUrlState } from '../../parts/url-state.ts'

const dayMs = 86_400_000
const periods = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' }
]

/** The minute some days ago, so that the query stays the same while the page renders again. */
const daysAgo = (days: string) => new Date(Math.floor((Date.now() - Number(days) * dayMs) / 60_000) * 60_000)

/** The start of the period that the address of the page names. */
export function useFrom(): string | undefined {
  const [days] = useUrlState('days')
  return periods.some(({ value }) => value === days) ? daysAgo(days).toISOString() : undefined
}

export function PeriodSelect() {
  const [days, setDays] = useUrlState('days')
  return (
    <Select label="When" placeholder="Any" clearable w={200} value={days || null} onChange={setDays} data={periods} />
  )
}
