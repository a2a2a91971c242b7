import type { MessageMinute } from '../../../../wire.ts'
import { BarChart } from '../../parts/charts/bar-chart.tsx'

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** A bar for each minute with sent and failed messages; lines for the deliveries and taps that apps reported. */
export function MinuteChart({ minutes }: { minutes: MessageMinute[] }) {
  const [first] = minutes
  return (
    <BarChart
      label="Messages per minute"
      caption={(most) =>
        `Since ${first ? clock.format(new Date(first.minute)) : ''} · peak ${most.toLocaleString()}/min`
      }
      timeOf={(at) => clock.format(new Date(at))}
      height={120}
      points={minutes.map(({ minute, sent, failed, delivered, tapped }) => ({
        at: minute,
        counts: { sent, failed, delivered, tapped }
      }))}
      bars={[
        { name: 'sent', color: 'var(--mantine-color-teal-6)', text: 'Sent' },
        { name: 'failed', color: 'var(--mantine-color-red-6)', text: 'Failed' }
      ]}
      lines={[
        { name: 'delivered', color: 'var(--mantine-color-indigo-5)', text: 'Delivered' },
        { name: 'tapped', color: 'var(--mantine-color-orange-6)', text: 'Tapped' }
      ]}
    />
  )
}
