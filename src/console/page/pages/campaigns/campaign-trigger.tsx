import { Button, JsonInput, Radio, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Preview } from '../../../../triggers/responses.ts'
import { problemAt, project } from '../../api.ts'
import { objectOr, readObject, wordsOf } from '../../parts/json.ts'
import { useKept } from '../../parts/kept.ts'
import { Empty, Failed } from '../../parts/states.tsx'
import { type Target, Targets } from '../../parts/targets.tsx'
import { many } from '../../parts/texts.tsx'
import { useMay, useProjectId } from '../../who.ts'
import { triggerLink } from '../triggers/triggers.tsx'
import { Audience } from './campaign-preview.tsx'
import type { StoredCampaign } from './campaigns.tsx'

/** The default audience in words. */
function defaultOf({ default_audience: audience }: StoredCampaign): string {
  if (audience?.broadcast) return 'Everyone in the audience'
  if (audience?.targets?.length) return many(audience.targets.length, 'user or device', 'users and devices')
  return 'No default audience set'
}

/** What is typed, and what it would do, asked a moment after each change. */
function useTrigger(campaign: StoredCampaign) {
  const projectId = useProjectId()
  const name = `trigger ${campaign.campaign_id}`
  const [to, setTo] = useKept(`${name} to`, campaign.default_audience ? 'default' : 'targets')
  const [targets, setTargets] = useKept<Target[]>(`${name} targets`, [])
  const [properties, setProperties] = useKept(`${name} properties`, '{}')
  const audience = to === 'default' ? undefined : to === 'everyone' ? { broadcast: true } : { targets }
  const body = { ...(audience && { audience }), properties: objectOr(properties, undefined) }
  const ready = body.properties !== undefined && (to !== 'targets' || targets.length > 0)
  const path = `/api/v1/campaigns/${encodeURIComponent(campaign.campaign_id)}`
  const [asked] = useDebouncedValue({ body, ready }, 400)
  const dryRun = useQuery({
    queryKey: ['dry-run', projectId, campaign.campaign_id, campaign.version, asked.body],
    queryFn: ({ signal }) => project<Preview>(projectId, 'POST', `${path}:preview`, { body: asked.body, signal }),
    enabled: asked.ready,
    retry: false
  })
  // A count of an earlier choice must not stand on the button.
  const current = ready && JSON.stringify(asked.body) === JSON.stringify(body)
  const settled = current ? dryRun.data?.audience : undefined
  return { to, setTo, targets, setTargets, properties, setProperties, body, ready, path, dryRun, settled }
}

export const TriggerForm = ({ campaign }: { campaign: StoredCampaign }) =>
  useMay('editor') ? <Form campaign={campaign} /> : <Empty title="View only: sending needs the editor role" />

function Form({ campaign }: { campaign: StoredCampaign }) {
  const projectId = useProjectId()
  const navigate = useNavigate()
  const { to, setTo, targets, setTargets, properties, setProperties, body, ready, path, dryRun, settled } =
    useTrigger(campaign)
  const trigger = useMutation({
    mutationFn: () => project<{ trigger_id: string }>(projectId, 'POST', `${path}:trigger`, { body }),
    onSuccess: ({ trigger_id }) => navigate({ to: triggerLink(projectId, trigger_id) })
  })
  const refused = trigger.error ?? dryRun.error
  return (
    <Stack maw={520}>
      <Radio.Group
        label="Recipients"
        inputWrapperOrder={['label', 'input', 'error']}
        value={to}
        onChange={setTo}
        error={problemAt(refused, 'audience', to === 'targets')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="targets" label="Specific users in the audience" />
          <Radio value="everyone" label="Everyone in the audience" />
          <Radio
            value="default"
            label="Default audience"
            description={defaultOf(campaign)}
            disabled={!campaign.default_audience}
          />
        </Stack>
      </Radio.Group>
      {to === 'targets' && (
        <Targets
          targets={targets}
          set={setTargets}
          problem={(path, only) => problemAt(refused, path, only)}
          path="audience.targets"
        />
      )}
      <JsonInput
        label="Trigger properties"
        description="Values for {{ trigger.* }}"
        error={wordsOf(readObject(properties)) ?? problemAt(refused, 'properties')}
        value={properties}
        onChange={setProperties}
        autosize
        minRows={3}
      />
      {ready && dryRun.data && <Audience {...dryRun.data.audience} />}
      {campaign.status !== 'active' && (
        <Text role="status">Status is {campaign.status}. Only active campaigns can be triggered.</Text>
      )}
      {trigger.error && <Failed error={trigger.error} />}
      <Button
        onClick={() => trigger.mutate()}
        loading={trigger.isPending}
        disabled={!ready || campaign.status !== 'active'}
      >
        {settled ? `Send to ${settled.complete ? '' : 'at least '}${many(settled.users, 'user')}` : 'Send'}
      </Button>
    </Stack>
  )
}
