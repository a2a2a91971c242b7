import { Anchor, Grid, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Campaign, CampaignStats } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'
import { Panel } from '../../../parts/panel.tsx'
import { EmptyState, Loaded } from '../../../parts/states.tsx'
import { useUrlState } from '../../../parts/url-state.ts'
import { RecentTriggers } from '../../triggers/recent-triggers.tsx'
import { Funnel } from './funnel.tsx'
import { Groups } from './groups.tsx'
import { periods, queryOf } from './period.ts'
import { PeriodSelect, usePeriod } from './period-select.tsx'
import { SeriesChart } from './series-chart.tsx'

const groupings = [
  { value: '', label: 'Nothing' },
  { value: 'variant', label: 'Variants' },
  { value: 'language', label: 'Languages' },
  { value: 'step', label: 'Steps' }
]

/** The grouping that tells most about a campaign. */
const usual = ({ variants, holdout, steps }: Campaign) =>
  variants || holdout || steps?.some((step) => step.variants) ? 'variant' : steps ? 'step' : ''

/** What came of a campaign: a funnel, its course over time, and a comparison of groups. */
export function CampaignResults({ campaign }: { campaign: Campaign }) {
  const projectId = useProjectId()
  const [period, choosePeriod] = usePeriod()
  const [chosenBy, chooseBy] = useUrlState('by')
  const by = chosenBy === 'none' ? '' : chosenBy || usual(campaign)
  const path = `/api/v1/campaigns/${encodeURIComponent(campaign.campaign_id)}/stats`
  const stats = useQuery({
    queryKey: ['stats', projectId, campaign.campaign_id, period, by],
    queryFn: async () => ({
      ...(await project<CampaignStats>(projectId, 'GET', path, { query: { ...queryOf(period), by } })),
      interval: periods[period].interval,
      grouped: by
    }),
    // It stays until that of the next choice is there, with its own interval and groups.
    placeholderData: (before) => before,
    meta: { kinds: ['messages', 'triggers', 'events'] }
  })
  const table = new URLSearchParams({ ...queryOf(period), ...(by && { by }), format: 'csv' })
  return (
    <Stack>
      <Group align="end">
        <PeriodSelect period={period} choose={choosePeriod} />
        <NativeSelect
          label="Compare"
          value={by}
          onChange={({ currentTarget }) => chooseBy(currentTarget.value || 'none')}
          data={groupings}
        />
        <Anchor
          href={`/manage/v1/projects/${encodeURIComponent(projectId)}${path}?${table}`}
          download={`${campaign.campaign_id}-results.csv`}
        >
          Download CSV
        </Anchor>
      </Group>
      <Loaded query={stats}>
        {({ totals, series, groups, interval, grouped }) =>
          totals.targeted === 0 && totals.converted === 0 ? (
            <EmptyState title="No results in this period">
              Figures appear here as soon as the campaign is sent.
            </EmptyState>
          ) : (
            <>
              <Grid>
                <Grid.Col span={{ base: 12, md: 7 }}>
                  <Panel title="Funnel">
                    <Funnel totals={totals} hasGoal={campaign.conversion !== undefined} />
                  </Panel>
                </Grid.Col>
                <Grid.Col span={{ base: 12, md: 5 }}>
                  <RecentTriggers campaignId={campaign.campaign_id} limit={4} />
                </Grid.Col>
              </Grid>
              <Panel title="Over time">
                <SeriesChart series={series} hourly={interval === 'hour'} />
              </Panel>
              {grouped && (
                <Panel title={groupings.find(({ value }) => value === grouped)!.label}>
                  <Groups groups={groups} by={grouped} />
                  <Text size="xs" c="dimmed" mt="xs">
                    Shares with the interval in which they lie with 95 % certainty. Where intervals overlap much, the
                    difference may be chance.
                  </Text>
                </Panel>
              )}
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}
