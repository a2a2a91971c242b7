import type { CampaignStats } from '../../../../../wire.ts'
import { BarChart } from '../../../parts/charts/bar-chart.tsx'

/** A bar for each point with sent and failed messages; lines for taps and conversions. */
export function SeriesChart({ series, hourly }: { series: CampaignStats['series']; hourly: boolean }) {
  // Points are whole hours and days in UTC; shown in the zone of the reader, a day would have another name.
  const clock = new Intl.DateTimeFormat(undefined, {
    dateStyle: 'medium',
    ...(hourly && { timeStyle: 'short' }),
    timeZone: 'UTC'
  })
  const textOf = (at: string | undefined) => (at ? clock.format(new Date(at)) : '')
  return (
    <BarChart
      label={(most) => `Messages per ${hourly ? 'hour' : 'day'}, ${most.toLocaleString()} at most`}
      caption={(most) =>
        `${textOf(series[0]?.at)} to ${textOf(series.at(-1)?.at)} (UTC) · peak ${most.toLocaleString()}`
      }
      height={140}
      points={series.map(({ at, sent, failed, tapped, converted }) => ({
        at,
        title: `${textOf(at)}: ${sent} sent, ${failed} failed, ${tapped} tapped, ${converted} converted`,
        counts: { sent, failed, tapped, converted }
      }))}
      bars={[
        { name: 'sent', color: 'var(--mantine-color-teal-6)', text: 'Sent' },
        { name: 'failed', color: 'var(--mantine-color-red-6)', text: 'Failed' }
      ]}
      lines={[
        { name: 'tapped', color: 'var(--mantine-color-orange-6)', text: 'Tapped' },
        { name: 'converted', color: 'var(--mantine-color-indigo-5)', text: 'Converted' }
      ]}
    />
  )
}
