import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Loaded } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import { type Campaign, StatusBadge, type StoredCampaign } from './campaigns.tsx'
import { CampaignEditor } from './editor.tsx'
import { CampaignSnippets } from './snippets.tsx'
import { TriggerForm } from './trigger-form.tsx'
import { CampaignVersions } from './versions.tsx'

const empty: Campaign = {
  name: '',
  type: 'api_triggered',
  status: 'active',
  segment: { all: [] },
  message: { title: '', body: '' }
}

export const NewCampaign = () => (
  <PageLayout title="New campaign" about="Name it, choose an audience, write the message.">
    <CampaignEditor known={empty} />
  </PageLayout>
)

export function CampaignPage() {
  const projectId = useProjectId()
  const { campaignId = '' } = useParams({ strict: false })
  const campaign = useQuery({
    queryKey: ['campaign', projectId, campaignId],
    queryFn: () => project<StoredCampaign>(projectId, 'GET', `/campaigns/${encodeURIComponent(campaignId)}`)
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
          <Counts campaignId={found.campaign_id} />
          <PageTabs
            tabs={[
              ['edit', 'Edit', <CampaignEditor key={`edit ${found.version}`} known={found} />],
              ['trigger', 'Trigger', <TriggerForm key="trigger" campaign={found} />],
              ['versions', 'Versions', <CampaignVersions key="versions" campaign={found} />],
              ['use', 'Code', <CampaignSnippets key="use" campaign={found} />]
            ]}
          />
        </PageLayout>
      )}
    </Loaded>
  )
}

interface Totals {
  triggers: number
  sent: number
  failed: number
  skipped: number
  delivered: number
  tapped: number
}

/** What all its triggers came to. */
function Counts({ campaignId }: { campaignId: string }) {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['counts', projectId, campaignId],
    queryFn: () => project<Totals>(projectId, 'GET', `/campaigns/${encodeURIComponent(campaignId)}/counts`),
    refetchInterval: 5_000
  })
  if (!data || data.triggers === 0) return null
  const { triggers, ...counts } = data
  const told = (['sent', 'failed', 'skipped', 'delivered', 'tapped'] as const).map(
    (name) => `${counts[name].toLocaleString()} ${name}`
  )
  return (
    <Text size="sm">
      Triggered {plural(triggers, 'time')}: {told.join(', ')}.
    </Text>
  )
}
