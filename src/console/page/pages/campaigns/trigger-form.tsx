import { Button, JsonInput, Radio, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Preview } from '../../../../campaigns/preview/responses.ts'
import { project } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { errorText, objectOr, readObject } from '../../parts/json.ts'
import { triggerLink } from '../../parts/links.ts'
import { useSessionState } from '../../parts/session-state.ts'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { plural } from '../../parts/texts.tsx'
import type { StoredCampaign } from './campaigns.tsx'
import { Audience } from './preview.tsx'
import { type Target, Targets } from './targets.tsx'

/** The default audience in words. */
function defaultOf({ default_audience: audience }: StoredCampaign): string {
  if (audience?.broadcast) return 'Everyone in the audience'
  if (audience?.targets?.length) return plural(audience.targets.length, 'user or device', 'users and devices')
  return 'No default audience set'
}

/** What is typed, and what it would do, asked a moment after each change. */
function useTrigger(campaign: StoredCampaign) {
  const projectId = useProjectId()
  const name = `trigger ${campaign.campaign_id}`
  const [to, setTo] = useSessionState(`${name} to`, campaign.default_audience ? 'default' : 'targets')
  const [targets, setTargets] = useSessionState<Target[]>(`${name} targets`, [])
  const [properties, setProperties] = useSessionState(`${name} properties`, '{}')
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
  useHasRole('editor') ? <Form campaign={campaign} /> : <EmptyState title="View only: sending needs the editor role" />

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
        error={fieldError(refused, 'audience', to === 'targets')}
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
          problem={(path, only) => fieldError(refused, path, only)}
          path="audience.targets"
        />
      )}
      <JsonInput
        label="Trigger properties"
        description="Values for {{ trigger.* }}"
        error={errorText(readObject(properties)) ?? fieldError(refused, 'properties')}
        value={properties}
        onChange={setProperties}
        autosize
        minRows={3}
      />
      {ready && dryRun.data && <Audience {...dryRun.data.audience} />}
      {campaign.status !== 'active' && (
        <Text role="status">Status is {campaign.status}. Only active campaigns can be triggered.</Text>
      )}
      {trigger.error && <ErrorAlert error={trigger.error} />}
      <Button
        onClick={() => trigger.mutate()}
        loading={trigger.isPending}
        disabled={!ready || campaign.status !== 'active'}
      >
        {settled ? `Send to ${settled.complete ? '' : 'at least '}${plural(settled.users, 'user')}` : 'Send'}
      </Button>
    </Stack>
  )
}
