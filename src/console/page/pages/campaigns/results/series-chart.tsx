import type { CampaignFigures } from '../../../../../wire.ts'
import { BarChart } from '../../../parts/charts/bar-chart.tsx'

/** Points are whole hours, shown in the zone of the reader, or whole days in UTC, which elsewhere have another name. */
const hours = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A bar for each point with sent and failed messages; lines for deliveries, taps and conversions. */
export function SeriesChart({ series, hourly }: { series: ({ at: string } & CampaignFigures)[]; hourly: boolean }) {
  const clock = hourly ? hours : days
  return (
    <BarChart
      label={`Messages per ${hourly ? 'hour' : 'day'}`}
      caption={(most) => `${hourly ? '' : 'Days in UTC · '}Peak ${most.toLocaleString()}/${hourly ? 'hour' : 'day'}`}
      timeOf={(at) => clock.format(new Date(at))}
      height={160}
      points={series.map(({ at, sent, failed, delivered, tapped, converted }) => ({
        at,
        counts: { sent, failed, delivered, tapped, converted }
      }))}
      bars={[
        { name: 'sent', color: 'var(--mantine-color-teal-6)', text: 'Sent' },
        { name: 'failed', color: 'var(--mantine-color-red-6)', text: 'Failed' }
      ]}
      lines={[
        { name: 'delivered', color: 'var(--mantine-color-indigo-5)', text: 'Delivered' },
        { name: 'tapped', color: 'var(--mantine-color-orange-6)', text: 'Tapped' },
        { name: 'converted', color: 'var(--mantine-color-grape-5)', text: 'Converted' }
      ]}
    />
  )
}
