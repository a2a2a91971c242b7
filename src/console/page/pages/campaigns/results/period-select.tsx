import { SegmentedControl } from '@mantine/core'
import { useUrlState } from '../../../parts/url-state.ts'
import { type Period, periods } from './period.ts'

/** The chosen period, which the address holds. */
export function usePeriod(): [period: Period, choose: (period: string) => void] {
  const [chosen, choose] = useUrlState('period')
  return [chosen in periods ? (chosen as Period) : 'month', choose]
}

export const PeriodSelect = ({ period, choose }: { period: Period; choose: (period: string) => void }) => (
  <SegmentedControl
    aria-label="Period"
    size="xs"
    value={period}
    onChange={choose}
    data={Object.entries(periods).map(([value, { label, name }]) => ({
      value,
      label: <span title={name}>{label}</span>
    }))}
  />
)
