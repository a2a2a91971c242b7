import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Campaign, CampaignTotals } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useProjectId } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs, type Tab } from '../../parts/page-tabs.tsx'
import { Loaded } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { CampaignActions } from './campaign-actions.tsx'
import { type CampaignDraft, draftOf } from './draft.ts'
import { CampaignEditor } from './editor/editor.tsx'
import { readCampaign } from './editor/save-campaign.ts'
import { dropDraftsOf } from './editor/stored-draft.ts'
import { OnTheirWay } from './on-their-way.tsx'
import { CampaignResults } from './results/results.tsx'
import { CampaignSnippets } from './sending/snippets.tsx'
import { TriggerForm } from './sending/trigger-form.tsx'
import { StatusBadge } from './status-badge.tsx'
import { CampaignVersions } from './versions/versions.tsx'

/** An empty campaign, or a copy of the one that the address names. */
export function NewCampaign() {
  const projectId = useProjectId()
  const [from] = useUrlState('from')
  const original = useQuery({
    queryKey: ['campaign', projectId, from],
    queryFn: () => readCampaign(projectId, from),
    enabled: from !== ''
  })
  return (
    <PageLayout
      title={from === '' ? 'New campaign' : 'Duplicate a campaign'}
      about={
        from === ''
          ? 'Choose an audience, write the message, set its time.'
          : `A copy of ${from}. It is created when you save it.`
      }
    >
      {from === '' ? (
        <CampaignEditor key="new" />
      ) : (
        <Loaded query={original}>
          {(found) => <CampaignEditor key={from} beginning={{ from, draft: copyOf(found) }} />}
        </Loaded>
      )}
    </PageLayout>
  )
}

/** The content of a campaign under another name. It is a draft, and gets an ID of its own. */
function copyOf(campaign: Campaign): CampaignDraft {
  const { campaign_id: _other, ...content } = draftOf(campaign)
  return { ...content, name: `Copy of ${content.name}`.slice(0, 256), status: 'draft' }
}

export function CampaignPage() {
  const projectId = useProjectId()
  const { campaignId = '' } = useParams({ strict: false })
  const campaign = useQuery({
    queryKey: ['campaign', projectId, campaignId],
    queryFn: () => readCampaign(projectId, campaignId),
    meta: { kinds: ['campaigns'] }
  })
  const isGone = campaign.error instanceof ApiError && campaign.error.status === 404
  useEffect(() => {
    if (isGone) dropDraftsOf(projectId, campaignId)
  }, [isGone, projectId, campaignId])
  return (
    <Loaded query={campaign}>
      {(found) => (
        <PageLayout
          title={found.name}
          about={`${found.campaign_id}, version ${found.version}`}
          actions={
            <>
              <StatusBadge status={found.status} />
              <CampaignActions campaign={found} />
            </>
          }
        >
          <Totals campaignId={campaignId} />
          <OnTheirWay campaign={found} />
          <PageTabs
            tabs={[
              ['edit', 'Edit', <CampaignEditor key={`edit ${found.campaign_id}`} campaign={found} />],
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
