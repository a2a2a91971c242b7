import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Campaign, CampaignTotals } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs, type Tab } from '../../parts/page-tabs.tsx'
import { Loaded } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import { CampaignEditor } from './editor.tsx'
import { OnTheirWay } from './on-their-way.tsx'
import { CampaignResults } from './results/results.tsx'
import { CampaignSnippets } from './sending/snippets.tsx'
import { TriggerForm } from './sending/trigger-form.tsx'
import { StatusBadge } from './status-badge.tsx'
import { CampaignVersions } from './versions.tsx'

export const NewCampaign = () => (
  <PageLayout title="New campaign" about="Name it, choose an audience, write the message.">
    <CampaignEditor />
  </PageLayout>
)

export function CampaignPage() {
  const projectId = useProjectId()
  const { campaignId = '' } = useParams({ strict: false })
  const campaign = useQuery({
    queryKey: ['campaign', projectId, campaignId],
    queryFn: () => project<Campaign>(projectId, 'GET', `/campaigns/${encodeURIComponent(campaignId)}`)
  })
  return (
    <Loaded query={campaign}>
      {(found) => (
        <PageLayout
          title={found.name}
          about={`${found.campaign_id}, version ${found.version}`}
          actions={<StatusBadge status={found.status} />}
        >
          {found.warnings.map((warning) => (
            <Alert key={warning} color="orange">
              {warning}
            </Alert>
          ))}
          <Totals campaignId={campaignId} />
          <OnTheirWay campaign={found} />
          <PageTabs
            tabs={[
              ['edit', 'Edit', <CampaignEditor key={`edit ${found.version}`} campaign={found} />],
              // Campaigns of other types run by themselves, and the API refuses to trigger them.
              ...(found.type === 'api_triggered'
                ? [['trigger', 'Trigger', <TriggerForm key="trigger" campaign={found} />] satisfies Tab]
                : []),
              ['results', 'Results', <CampaignResults key="results" campaign={found} />],
              ['versions', 'Versions', <CampaignVersions key="versions" campaign={found} />],
              ['use', 'Code', <CampaignSnippets key="use" campaign={found} />]
            ]}
          />
        </PageLayout>
      )}
    </Loaded>
  )
}

/** Totals over all triggers of the campaign. */
function Totals({ campaignId }: { campaignId: string }) {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['counts', projectId, campaignId],
    queryFn: () => project<CampaignTotals>(projectId, 'GET', `/campaigns/${encodeURIComponent(campaignId)}/counts`),
    meta: { kinds: ['triggers', 'messages'] }
  })
  if (!data || data.triggers === 0) return null
  const { triggers, ...counts } = data
  const parts = (['sent', 'failed', 'skipped', 'delivered', 'tapped'] as const).map(
    (name) => `${counts[name].toLocaleString()} ${name}`
  )
  return (
    <Text size="sm">
      Triggered {plural(triggers, 'time')}: {parts.join(', ')}.
    </Text>
  )
}
