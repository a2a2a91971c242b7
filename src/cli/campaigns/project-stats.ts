import type { Command } from 'commander'
import type { ProjectStats } from '../../wire.ts'
import { table } from '../output.ts'
import { type Common, choice, connect, examples, inProject, reaching, tell } from '../session.ts'
import { print, type Shell } from '../shell.ts'
import { figureHeads, figureRow } from './stats.ts'

interface Options extends Common {
  from?: string
  to?: string
  interval?: string
  csv?: true
}

export function declare(command: Command, shell: Shell): void {
  command
    .option('--from <time>', 'A date or a time in UTC (default: 30 days ago, by the hour 48 hours)')
    .option('--to <time>', 'The end (default: now)')
    .addOption(choice('--interval <interval>', 'Of the lines of --csv', ['hour', 'day']))
    .option('--csv', 'Print a table for spreadsheets, a line for each point in time')
  reaching(command, 'project')
  examples(
    command,
    ['tidings stats', 'tidings stats -p shop --from 2026-11-01', 'tidings stats --interval hour --csv > shop.csv'],
    'Lists all sends together, direct ones, and each campaign. Shares have the interval in which they lie with 95 % certainty.'
  )
  command.action(async ({ from, to, interval, csv, ...common }: Options) => {
    const session = await connect(shell, common)
    const path = inProject(session, '/api/v1/stats')
    const query = { from, to, interval }
    if (csv) {
      const response = await session.client.send('GET', path, { query: { ...query, format: 'csv' } })
      return print(shell, (await response.text()).trimEnd())
    }
    const stats = await session.client.json<ProjectStats>('GET', path, { query })
    const rows = [
      figureRow('all', stats.totals),
      figureRow('direct', stats.direct),
      ...stats.campaigns.map(({ campaign_id, totals }) => figureRow(campaign_id, totals))
    ]
    tell(session, stats, table(['', ...figureHeads], rows))
  })
}
