import { wilson } from '../../stats/wilson.ts'
import type { CampaignFigures, CampaignStats } from '../../wire.ts'
import { segment } from '../client.ts'
import { amount, table } from '../output.ts'
import type { Resource } from '../resource.ts'
import { choice, inProject, tell } from '../session.ts'
import { print } from '../shell.ts'

interface Options {
  from?: string
  to?: string
  interval?: string
  by?: string
  csv?: true
}

export function declareStats(campaigns: Resource): void {
  campaigns.verb<Options>(
    {
      usage: 'stats <campaign>',
      about: 'Show what came of a campaign',
      examples: [
        'tidings campaign stats welcome',
        'tidings campaign stats sale --by variant --from 2026-11-01',
        'tidings campaign stats sale --interval hour --csv > sale.csv'
      ],
      more: 'Shares have the interval in which they lie with 95 % certainty.',
      options: (command) =>
        command
          .option('--from <time>', 'A date or a time in UTC (default: 30 days ago, by the hour 48 hours)')
          .option('--to <time>', 'The end (default: now)')
          .addOption(choice('--interval <interval>', 'Of the lines of --csv', ['hour', 'day']))
          .addOption(choice('--by <group>', 'Compare groups', ['variant', 'language', 'step']))
          .option('--csv', 'Print a table for spreadsheets, a line for each point in time')
    },
    async (session, { from, to, interval, by, csv }, id: string) => {
      const path = inProject(session, `/api/v1/campaigns/${segment(id)}/stats`)
      const query = { from, to, interval, by }
      if (csv) {
        const response = await session.client.send('GET', path, { query: { ...query, format: 'csv' } })
        return print(session.shell, (await response.text()).trimEnd())
      }
      const stats = await session.client.json<CampaignStats>('GET', path, { query })
      const rows = by ? stats.groups.map(({ key, totals }) => figureRow(key, totals)) : [figureRow('all', stats.totals)]
      tell(session, stats, table([by ?? '', ...figureHeads], rows))
    }
  )
}

export const figureHeads = [
  'users',
  'targeted',
  'sent',
  'failed',
  'skipped',
  'delivered',
  'tapped',
  'converted',
  'value'
]

/** A line of figures; `key` names the group or campaign. */
export const figureRow = (key: string | null, one: CampaignFigures) => [
  key,
  ...[one.users, one.targeted, one.sent, one.failed, one.skipped].map(amount),
  share(one.delivered, one.sent),
  share(one.tapped, one.sent),
  share(one.converted, one.users),
  one.conversion_value
]

const percent = (rate: number) => (rate * 100).toFixed(1)

/** A number with its share and the interval of that share. */
function share(hits: number, cases: number): string {
  const interval = wilson(hits, cases)
  if (!interval) return amount(hits)
  return `${amount(hits)} (${percent(hits / cases)} %, ${interval.map(percent).join(' to ')})`
}
