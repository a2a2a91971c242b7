import { Anchor, Grid, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ProjectStats } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { EmptyState, Loaded } from '../../parts/states.tsx'
import { Funnel } from '../campaigns/results/funnel.tsx'
import { periods, queryOf } from '../campaigns/results/period.ts'
import { PeriodSelect, usePeriod } from '../campaigns/results/period-select.tsx'
import { SeriesChart } from '../campaigns/results/series-chart.tsx'
import { RecentTriggers } from '../triggers/recent-triggers.tsx'
import { ByCampaign } from './by-campaign.tsx'

const path = '/api/v1/stats'

/** What came of everything that the project sent: campaigns and direct sends together. */
export function Results() {
  const projectId = useProjectId()
  const [period, choosePeriod] = usePeriod()
  const stats = useQuery({
    queryKey: ['project stats', projectId, period],
    queryFn: async () => ({
      ...(await project<ProjectStats>(projectId, 'GET', path, { query: queryOf(period) })),
      interval: periods[period].interval
    }),
    // It stays until that of the next period is there, with its own interval.
    placeholderData: (before) => before,
    meta: { kinds: ['messages', 'triggers', 'events'] }
  })
  const table = new URLSearchParams({ ...queryOf(period), format: 'csv' })
  return (
    <PageLayout
      title="Results"
      about="Reach and response of all campaigns and direct sends."
      docs="guides/results"
      actions={
        <Group>
          <PeriodSelect period={period} choose={choosePeriod} />
          <Anchor
            size="sm"
            href={`/manage/v1/projects/${encodeURIComponent(projectId)}${path}?${table}`}
            download={`${projectId}-results.csv`}
          >
            Download CSV
          </Anchor>
        </Group>
      }
    >
      <Loaded query={stats}>
        {(found) =>
          found.totals.targeted === 0 && found.totals.converted === 0 ? (
            <EmptyState title="No results in this period">
              Send a push or trigger a campaign, and its figures appear here. Choose a longer period to see older ones.
            </EmptyState>
          ) : (
            <Found stats={found} />
          )
        }
      </Loaded>
    </PageLayout>
  )
}

const Found = ({
  stats: { totals, direct, series, campaigns, interval }
}: {
  stats: ProjectStats & { interval: 'hour' | 'day' }
}) => (
  <>
    <Grid>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Panel title="Funnel">
          <Funnel totals={totals} hasGoal={totals.converted > 0} />
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <RecentTriggers limit={4} />
      </Grid.Col>
    </Grid>
    <Panel title="Over time">
      <SeriesChart series={series} hourly={interval === 'hour'} />
    </Panel>
    <Panel title="By campaign">
      <ByCampaign campaigns={campaigns} direct={direct} />
    </Panel>
  </>
)
